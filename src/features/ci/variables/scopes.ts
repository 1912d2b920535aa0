import { managedPolicy, scope } from '../../../api/resource-scopes.ts'
import type { Source } from '../../access/scopes.ts'
import { groupScope } from '../../groups/scope.ts'
import { ciPolicy } from '../pipelines/policy.ts'
import { ciProject } from '../pipelines/queries.ts'

/** With pipelines disabled, a project has no variables. */
const projectScope = scope({
  kind: 'project',
  path: '/projects/:id',
  on: ciProject,
  policy: managedPolicy,
  to: (subject): Source => ({
    at: { group_id: null, project_id: subject.project.id },
    viewer: subject.viewer,
    level: subject.level,
    managed: ciPolicy.administer(subject),
    requestable: false,
  }),
})

export const variableScopes = [projectScope, groupScope] as const
