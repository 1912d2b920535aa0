import type { App } from '../../../context.ts'
import { mergeCommits, UnrelatedHistories } from '../../../git/merging/merging.ts'
import { rootOf } from '../../../git/objects/trees.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Measured } from '../versions/measure.ts'

/**
 * The old head, if the new version has identical changes, else null. The patch ids must be equal. A patch id ignores
 * line numbers, and the bytes of texts in other encodings. So merging the old changes onto the new base must also give
 * exactly the pushed tree.
 */
export async function unchangedSince(
  { db }: App,
  dir: string,
  { id, head_sha: before }: MergeRequest,
  { head_sha: after, base_sha: base, patch_id }: Measured,
): Promise<string | null> {
  if (before === null || after === null || base === null || patch_id === null) return null
  const version = await db
    .selectFrom('merge_request_versions')
    .select('patch_id')
    .where('merge_request_id', '=', id)
    .where('head_sha', '=', before)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (version?.patch_id !== patch_id) return null
  try {
    const { tree } = await mergeCommits(dir, { ours: base, theirs: before })
    return tree !== undefined && tree === (await rootOf(dir, after, {})) ? before : null
  } catch (error) {
    if (error instanceof UnrelatedHistories) return null
    throw error
  }
}
