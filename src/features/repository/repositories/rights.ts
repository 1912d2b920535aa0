/** The branches that the viewer may push to and merge into. */
import type { App, User } from '../../../context.ts'
import { oncePerPage } from '../../../lib/async/page-reads.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { isProtected, mayForcePush, mayMerge, mayPush, type Rules, type Who } from '../protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../protected-branches/queries.ts'
import { repositoryPolicy, type RepositorySubject } from './policy.ts'
import { loadRepositorySubject } from './queries.ts'

async function protectionFor(app: App, { project, viewer, level }: RepositorySubject, known?: Rules) {
  const read = () => findProtection(app.db, project.id, 'branch')
  const rules = known ?? (await oncePerPage(app, `protected branches of ${project.id}`, read))
  const who: Who = { user: viewer, level, groups: await groupsAmong(app.db, viewer, rules) }
  return { rules, who }
}

/** `known`: the protected branches of the project, if they were read before. */
export async function mayMergeInto(
  app: App,
  subject: RepositorySubject,
  branch: string,
  known?: Rules,
): Promise<boolean> {
  return (await mergeableBranches(app, subject, known))(branch)
}

async function mergeableBranches(
  app: App,
  subject: RepositorySubject,
  known?: Rules,
): Promise<(branch: string) => boolean> {
  if (!subject.viewer || !repositoryPolicy.push(subject)) return () => false
  const { rules, who } = await protectionFor(app, subject, known)
  return (branch) => mayMerge(rules, branch, who)
}

/** `rewrite`: also allows force pushes. */
export async function mayPushTo(
  app: App,
  subject: RepositorySubject,
  branch: string,
): Promise<{ push: boolean; rewrite: boolean }> {
  if (!(await mayCommitTo(app, subject, branch))) return { push: false, rewrite: false }
  const { rules, who } = await protectionFor(app, subject)
  const push = mayPush(rules, branch, who)
  return { push, rewrite: push && (!isProtected(rules, branch) || mayForcePush(rules, branch)) }
}

/** Ignores the protection of the branch. */
export const mayCommitTo = async (app: App, subject: RepositorySubject, branch: string): Promise<boolean> =>
  repositoryPolicy.push(subject) || (await sharedBranches(app, subject.viewer, subject.project, [branch])).has(branch)

/** The maximum number of merge requests from one fork that are read. */
const MOST_REQUESTS = 1000

/**
 * Branches of a fork that are shared with users who may merge them, through open merge requests that allow
 * collaboration. Computed on every call, so sharing ends with the merge request, its switch or the permission. `among`
 * limits the result to these branches.
 */
export async function sharedBranches(
  app: App,
  user: User | null,
  project: Project,
  among?: readonly string[],
): Promise<ReadonlySet<string>> {
  const shared = new Set<string>()
  if (!user || project.archived || project.visibility === 'private' || among?.length === 0) return shared
  const requests = await app.db
    .selectFrom('merge_requests')
    .select(['project_id', 'source_branch', 'target_branch'])
    .where('source_project_id', '=', project.id)
    .where('project_id', '!=', project.id)
    .where('state', '=', 'opened')
    .where('allow_collaboration', '=', true)
    .$if(among !== undefined, (query) => query.where('source_branch', 'in', among!))
    .limit(MOST_REQUESTS)
    .execute()
  if (requests.length === 0) return shared
  if (!repositoryPolicy.download(await loadRepositorySubject(app, project, user))) return shared
  for (const [id, some] of Map.groupBy(requests, ({ project_id }) => project_id)) {
    const target = await findProjectById(app.db, id)
    if (!target || target.visibility === 'private') continue
    const isMergeable = await mergeableBranches(app, await loadRepositorySubject(app, target, user))
    for (const { source_branch, target_branch } of some) if (isMergeable(target_branch)) shared.add(source_branch)
  }
  return shared
}
