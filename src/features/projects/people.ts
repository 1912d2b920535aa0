import { sourceScope } from '../access/scopes.ts'
import { project } from './projects/queries.ts'

export const projectScope = sourceScope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  manage: 'administer',
  toSource: ({ project, level }) => ({
    at: { group_id: null, project_id: project.id },
    level,
    requestable: project.request_access_enabled,
  }),
})
