import { sourceScope } from '../access/scopes.ts'
import { group } from './groups/queries.ts'

/** A private group is visible to members of anything inside it, but they cannot request access to the group. */
export const groupScope = sourceScope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  manage: 'own',
  toSource: ({ group, level }) => ({
    at: { group_id: group.id, project_id: null },
    level,
    requestable: group.request_access_enabled && group.visibility !== 'private',
  }),
})
