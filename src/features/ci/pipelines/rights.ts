/** Permissions to run pipelines on a branch or a tag. */
import type { App, User } from '../../../context.ts'
import { Developer, Master } from '../../../lib/levels.ts'
import { isProtected, mayCreateTag, mayMerge, type Rules } from '../../repository/protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../../repository/protected-branches/queries.ts'

export interface RunSubject {
  readonly project: { readonly id: number }
  readonly viewer: User | null
  readonly level: number
}

export interface RunRef {
  readonly ref: string
  readonly tag: boolean
}

const rulesFor = (app: App, project: number, { tag }: Pick<RunRef, 'tag'>): Promise<Rules> =>
  findProtection(app.db, project, tag ? 'tag' : 'branch')

export async function isProtectedRef(app: App, project: number, { ref, tag }: RunRef): Promise<boolean> {
  return isProtected(await rulesFor(app, project, { tag }), ref)
}

/** Users who may push or merge to the branch, or create the tag. */
export async function mayRunOn(
  app: App,
  { project, viewer, level }: RunSubject,
  { ref, tag }: RunRef,
): Promise<boolean> {
  if (level < Developer) return false
  const rules = await rulesFor(app, project.id, { tag })
  const who = { user: viewer, level, groups: await groupsAmong(app.db, viewer, rules) }
  return (tag ? mayCreateTag : mayMerge)(rules, ref, who)
}

/**
 * Applies the rule of creation. A pipeline of a merge request needs the permission to run on the source branch. If the
 * code comes from another project, it also needs the permission to run on the target branch.
 */
export async function mayRetry(
  app: App,
  subject: RunSubject,
  { ref, tag, pipeline_id }: RunRef & { readonly pipeline_id: number },
): Promise<boolean> {
  if (!ref.startsWith('refs/')) return mayRunOn(app, subject, { ref, tag })
  const one = await app.db
    .selectFrom('pipelines as p')
    .innerJoin('merge_requests as m', 'm.id', 'p.merge_request_id')
    .select(['m.source_branch', 'm.target_branch', 'm.source_project_id'])
    .where('p.id', '=', pipeline_id)
    .executeTakeFirst()
  // The merge request was deleted, so its branches are unknown.
  if (!one) return subject.level >= Master
  const isForeign = one.source_project_id !== subject.project.id
  for (const branch of [one.source_branch, ...(isForeign ? [one.target_branch] : [])])
    if (!(await mayRunOn(app, subject, { ref: branch, tag: false }))) return false
  return true
}
