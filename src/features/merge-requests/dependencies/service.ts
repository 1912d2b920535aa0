import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, conflict, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { readableItems } from '../../planning/items/readers.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { mergeRequestRules } from '../merge-requests/rules.ts'
import type { Block } from './model.ts'

/** The maximum number of dependencies of one merge request. */
const MOST = 100

/** Makes a merge request depend on another. */
export async function addBlock(app: App, actor: User, blocked: MergeRequest, blockingId: number): Promise<Block> {
  const [blocking] = await readableItems(app, mergeRequestRules, actor, await findMergeRequests(app.db, [blockingId]))
  if (!blocking) throw notFound('Merge Request')
  if (blocking.id === blocked.id) throw new Refusal('bad_request', 'A merge request cannot block itself')
  const added = transact(app, async (app) => {
    // The lock prevents a race: two requests could create a cycle.
    await lockName(app.db, 'merge request dependencies')
    if (await waitsFor(app, blocking.id, blocked.id))
      throw new Refusal('bad_request', 'Merge requests cannot block each other')
    const known = await app.db
      .selectFrom('merge_request_blocks')
      .select('id')
      .where('blocked_id', '=', blocked.id)
      .limit(MOST)
      .execute()
    if (known.length >= MOST) throw new Refusal('bad_request', `A merge request is blocked by at most ${MOST} others`)
    return app.db
      .insertInto('merge_request_blocks')
      .values({ blocking_id: blocking.id, blocked_id: blocked.id, created_at: timestamp(app.clock) })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return unlessTaken(added, 'merge_request_blocks', [['blocked_id', 'blocking_id']], () =>
    conflict('Block already exists'),
  )
}

/** Whether `one` depends on `other`, directly or through others. */
async function waitsFor({ db }: App, one: number, other: number): Promise<boolean> {
  const { rows } = await sql`with recursive below(id) as (
      select cast(${one} as bigint) union select b.blocking_id from merge_request_blocks b join below on b.blocked_id = below.id)
    select id from below where id = ${other} limit 1`.execute(db)
  return rows.length > 0
}

export async function removeBlock({ db }: App, { id }: Block): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('merge_request_blocks').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
}
