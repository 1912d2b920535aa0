/** Projects and groups for those who administer them. Others do not learn which parameters would be right. */
import { managedPolicy, scope, type ManagedScope, type ScopeColumns } from '../../api/resource-scopes.ts'
import { groupPolicy } from '../groups/groups/policy.ts'
import { group } from '../groups/groups/queries.ts'
import { projectPolicy } from '../projects/projects/policy.ts'
import { project } from '../projects/projects/queries.ts'

export interface IntegrationSubject extends ManagedScope {
  readonly at: ScopeColumns
}

export const administeredProject = scope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  policy: managedPolicy,
  abilityFirst: true,
  to: (subject): IntegrationSubject => ({
    at: { project_id: subject.project.id, group_id: null },
    managed: projectPolicy.administer(subject),
  }),
})

export const ownedGroup = scope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  policy: managedPolicy,
  abilityFirst: true,
  to: (subject): IntegrationSubject => ({
    at: { project_id: null, group_id: subject.group.id },
    managed: groupPolicy.own(subject),
  }),
})
