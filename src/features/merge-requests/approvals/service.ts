import type { App } from '../../../context.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Measured } from '../versions/measure.ts'

/** What was approved is not what is there now, unless the changes are the same at another place. */
export async function resetApprovals({ db }: App, held: MergeRequest, now: Measured): Promise<void> {
  const before = await db
    .selectFrom('merge_request_versions')
    .select('patch_id')
    .where('merge_request_id', '=', held.id)
    .where('head_sha', '=', held.head_sha)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (before?.patch_id && before.patch_id === now.patch_id) return
  await db.deleteFrom('merge_request_approvals').where('merge_request_id', '=', held.id).execute()
}
