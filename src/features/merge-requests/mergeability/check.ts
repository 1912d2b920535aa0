/**
 * Whether the commits of a merge request can be merged. It is worked out when source or target moves and kept by the
 * pair of commits it is true for, so that asking is reading a row.
 */
import type { App } from '../../../context.ts'
import { mergeCommits, UnrelatedHistories } from '../../../git/merging/merging.ts'
import { emit } from '../../../store/outbox.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { refreshOwnership } from '../code-owners/service.ts'
import type { CheckResult, MergeRequest } from '../merge-requests/model.ts'
import { findTips, type Tips } from '../versions/service.ts'

/** More paths are not told. */
const MOST_CONFLICTS = 1000

interface Checked {
  readonly result: CheckResult
  readonly conflicts: readonly string[]
}

/** As it stands now; what is over stays as it was looked at last. */
export async function freshlyChecked(app: App, one: MergeRequest, project?: Project): Promise<MergeRequest> {
  if (one.state !== 'opened') return one
  const target = project ?? (await findProjectById(app.db, one.project_id))
  if (!target) return one
  const tips = await findTips(app, target, one)
  await rememberTarget(app, one, tips.target)
  await refreshOwnership(app, one, tips)
  const isFresh = one.check_result !== null && one.check_head === one.head_sha && one.check_target === tips.target
  const isBack = one.check_result === 'missing' && tips.source !== null && tips.target !== null
  return isFresh && !isBack ? one : check(app, one, tips)
}

async function check(app: App, one: MergeRequest, tips: Tips): Promise<MergeRequest> {
  const { result, conflicts } = await lookAt(one, tips)
  const kept = await app.db
    .updateTable('merge_requests')
    .set({
      check_head: one.head_sha,
      check_target: tips.target,
      check_result: result,
      check_conflicts: conflicts.length === 0 ? null : JSON.stringify(conflicts.slice(0, MOST_CONFLICTS)),
    })
    .where('id', '=', one.id)
    // Of another head it says nothing.
    .where('head_sha', one.head_sha === null ? 'is' : '=', one.head_sha)
    .returningAll()
    .executeTakeFirst()
  if (kept?.auto_merge && result === 'conflict' && one.check_result !== 'conflict') {
    await emit(app, 'merge_request.unmergeable', { id: one.id })
  }
  return kept ?? one
}

async function lookAt({ head_sha, base_sha }: MergeRequest, { dir, source, target }: Tips): Promise<Checked> {
  if (source === null || target === null || head_sha === null) return { result: 'missing', conflicts: [] }
  if (head_sha === base_sha || head_sha === target) return { result: 'empty', conflicts: [] }
  if (target === base_sha) return { result: 'mergeable', conflicts: [] }
  try {
    const { conflicts } = await mergeCommits(dir, { ours: target, theirs: head_sha })
    return conflicts
      ? { result: 'conflict', conflicts: conflicts.map(({ path }) => path) }
      : { result: 'mergeable', conflicts: [] }
  } catch (error) {
    if (error instanceof UnrelatedHistories) return { result: 'conflict', conflicts: [] }
    throw error
  }
}

/** Where the branch stands that it goes to: what is kept of older tips is not true any more. */
export async function rememberTarget(
  { db }: App,
  { project_id, target_branch: branch }: Pick<MergeRequest, 'project_id' | 'target_branch'>,
  sha: string | null,
): Promise<void> {
  const known = await db
    .selectFrom('merge_targets')
    .select('sha')
    .where('project_id', '=', project_id)
    .where('branch', '=', branch)
    .executeTakeFirst()
  if (known?.sha === sha && known !== undefined) return
  await db
    .insertInto('merge_targets')
    .values({ project_id, branch, sha })
    .onConflict((c) => c.columns(['project_id', 'branch']).doUpdateSet({ sha }))
    .execute()
}
