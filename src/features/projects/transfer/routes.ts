import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { filledText } from '../../../api/wire.ts'
import { targetNamespace } from '../forks/target.ts'
import { ProjectEntity } from '../projects/entity.ts'
import { presentOneProject } from '../projects/load.ts'
import { project } from '../projects/queries.ts'
import { transferProject } from '../projects/transfer.ts'

/**
 * Owners may move a project to a namespace in which they may create projects. Administrators may also use `POST
 * /groups/:id/projects/:project_id`.
 */
export const transfer = endpoint({
  method: 'PUT',
  path: '/projects/:id/transfer',
  summary: 'Transfer a project to another namespace',
  on: project,
  allow: 'own',
  alsoAsks: ['create projects in the namespace'],
  whileReadOnly: true,
  input: z.object({ namespace: filledText }),
  output: ProjectEntity,
  async handle({ app, viewer, subject, input }) {
    const namespace = await targetNamespace(app, viewer, input.namespace)
    const moved = await transferProject(app, viewer, subject.project, namespace)
    return presentOneProject(app, viewer, moved, { secrets: true })
  },
})
