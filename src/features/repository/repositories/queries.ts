import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import { findProject, meetProject } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { repositoryPolicy } from './policy.ts'

/** `/projects/:id/repository/…`: the project, and where its repository lies. */
export const repository = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: repositoryPolicy,
  async find(app, { id }, viewer) {
    const project = await findProject(app.db, id)
    return project && { ...(await meetProject(app, project, viewer)), dir: repositoryDir(app, project) }
  },
})
