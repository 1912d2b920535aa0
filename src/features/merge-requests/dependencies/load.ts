import type { z } from 'zod'
import type { App, User } from '../../../context.ts'
import { readableItems } from '../../planning/items/readers.ts'
import { presentMergeRequests } from '../merge-requests/load.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { mergeRequestRules } from '../merge-requests/rules.ts'
import type { BlockEntity } from './entity.ts'
import type { Block } from './model.ts'

export async function presentBlocks(
  app: App,
  viewer: User,
  blocks: readonly Block[],
): Promise<z.infer<typeof BlockEntity>[]> {
  const ids = [...new Set(blocks.flatMap(({ blocking_id, blocked_id }) => [blocking_id, blocked_id]))]
  const rows = await findMergeRequests(app.db, ids)
  const seen = await presentMergeRequests(app, await readableItems(app, mergeRequestRules, viewer, rows), {
    isMixed: true,
  })
  const record = (id: number) => seen.find((one) => one.id === id) ?? null
  return blocks.map(({ id, blocking_id, blocked_id }) => ({
    id,
    project_id: rows.find((one) => one.id === blocked_id)!.project_id,
    blocking_merge_request: record(blocking_id),
    blocked_merge_request: record(blocked_id),
  }))
}
