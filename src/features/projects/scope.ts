import { managedPolicy, scope } from '../../api/resource-scopes.ts'
import type { Source } from '../access/scopes.ts'
import { projectPolicy } from './projects/policy.ts'
import { project } from './projects/queries.ts'

export const projectScope = scope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  policy: managedPolicy,
  to: (subject): Source => ({
    at: { group_id: null, project_id: subject.project.id },
    viewer: subject.viewer,
    level: subject.level,
    managed: projectPolicy.administer(subject),
    requestable: subject.project.request_access_enabled,
  }),
})
