import { sourceScope } from '../../access/scopes.ts'
import { ciProject } from '../pipelines/queries.ts'

/** With pipelines disabled, a project has no variables. */
export const projectScope = sourceScope({
  kind: 'project',
  path: '/projects/:id',
  on: ciProject,
  manage: 'administer',
  toSource: ({ project, level }) => ({
    at: { group_id: null, project_id: project.id },
    level,
    requestable: false,
  }),
})
