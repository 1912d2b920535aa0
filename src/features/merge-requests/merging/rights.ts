import type { App } from '../../../context.ts'
import { mayMerge } from '../../repository/protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../../repository/protected-branches/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'

/** Whether whoever looks may merge into a branch of the project. */
export async function mayMergeInto(app: App, subject: RepositorySubject, branch: string): Promise<boolean> {
  const { project, viewer, level } = subject
  if (!viewer || !repositoryPolicy.push(subject)) return false
  const rules = await findProtection(app.db, project.id, 'branch')
  return mayMerge(rules, branch, { user: viewer, level, groups: await groupsAmong(app.db, viewer, rules) })
}
