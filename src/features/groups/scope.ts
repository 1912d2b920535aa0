import { managedPolicy, scope } from '../../api/resource-scopes.ts'
import type { Source } from '../access/scopes.ts'
import { groupPolicy } from './groups/policy.ts'
import { group } from './groups/queries.ts'

/** A private group is visible to members of anything inside it, but they cannot request access to the group. */
export const groupScope = scope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  policy: managedPolicy,
  to: (subject): Source => ({
    at: { group_id: subject.group.id, project_id: null },
    viewer: subject.viewer,
    level: subject.level,
    managed: groupPolicy.own(subject),
    requestable: subject.group.request_access_enabled && subject.group.visibility !== 'private',
  }),
})
