import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import { mergeRequest } from '../merge-requests/queries.ts'

/** A dependency of a merge request. */
export const block = child(mergeRequest, {
  key: 'block',
  params: { block_id: id },
  find: ({ db }, { mergeRequest: one }, { block_id }) =>
    db
      .selectFrom('merge_request_blocks')
      .selectAll()
      .where('id', '=', block_id)
      .where('blocked_id', '=', one.id)
      .executeTakeFirst(),
})

export const blocksOf = (db: Db, column: 'blocked_id' | 'blocking_id', id: number) =>
  db.selectFrom('merge_request_blocks').selectAll().where(column, '=', id).orderBy('id')

const waiting = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_request_blocks as b')
    .innerJoin('merge_requests as m', 'm.id', 'b.blocking_id')
    .select(['b.blocked_id', sql<number>`count(*)`.as('total')])
    .where(inIdList(db, 'b.blocked_id', p.ids))
    .where('m.state', '!=', 'merged')
    .groupBy('b.blocked_id'),
)

/** The number of unmerged dependencies, by the id of the blocked merge request. */
export const blockerLookup = (db: Db, ids: readonly number[]): Lookup<ReadonlyMap<number, number>> =>
  lookup(
    waiting,
    { ids: idList(db, ids) },
    (rows) => new Map(rows.map(({ blocked_id, total }) => [blocked_id, Number(total)])),
  )
