/**
 * Marks a merge request as merged once its commits are on the target. Several processes may try; only the first has an
 * effect.
 */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { recordActivities } from '../../planning/events/service.ts'
import { addSystemNotes } from '../../planning/notes/system.ts'
import { timestampChanges } from '../../planning/timestamps.ts'
import { addResourceEvents } from '../../planning/resource-events/service.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { NO_AUTO_MERGE, lockMergeRequest } from '../merge-requests/service.ts'
import type { Merging } from './model.ts'

/** Only for a `locked` merge request. Any other is returned unchanged. */
export async function finishMerge(app: App, id: number): Promise<MergeRequest> {
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, id)
    if (locked.merging === null) return locked
    const { mergeCommit, squashCommit, by } = JSON.parse(locked.merging) as Merging
    return becomeMerged(app, locked, by, { merge_commit_sha: mergeCommit, squash_commit_sha: squashCommit })
  })
}

/** A push put the head on the target. */
export async function mergedByPush(app: App, id: number, by: number | null): Promise<void> {
  await transact(app, async (app) => {
    const locked = await lockMergeRequest(app, id)
    if (locked.state === 'opened') await becomeMerged(app, locked, by, {})
  })
}

async function becomeMerged(
  app: TransactionApp,
  locked: MergeRequest,
  by: number | null,
  commits: { merge_commit_sha?: string | null; squash_commit_sha?: string | null },
): Promise<MergeRequest> {
  const now = timestamp(app.clock)
  const merged = await app.db
    .updateTable('merge_requests')
    .set({
      state: 'merged',
      merging: null,
      merge_error: null,
      merge_user_id: by,
      merged_at: now,
      updated_at: now,
      ...NO_AUTO_MERGE,
      ...commits,
    })
    .where('id', '=', locked.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const actor = by === null ? null : await findUser(app.db, by)
  if (actor) {
    const { id: merge_request_id, project_id } = locked
    await addSystemNotes(app, actor, { project_id, merge_request_id }, [{ action: 'merged', body: 'merged' }])
    await addResourceEvents(app, actor, { merge_request_id }, { state: 'merged' })
    await recordActivities(app, [
      { project_id: merged.project_id, author_id: actor.id, kind: 'merge_request.merged', merge_request_id: merged.id },
    ])
  }
  const changes = {
    state: ['opened', 'merged'],
    merge_commit_sha: [locked.merge_commit_sha, merged.merge_commit_sha],
    ...timestampChanges(locked, merged),
  } as const
  await emit(app, 'merge_request.merged', { id: locked.id, project_id: locked.project_id, by, changes })
  return merged
}
