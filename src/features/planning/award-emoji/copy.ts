import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

const BATCH = 500

/** Copies reactions, with user and time. `copies` maps old ids to new ids. */
export async function copyAwards(
  { db }: App,
  column: 'issue_id' | 'note_id',
  copies: ReadonlyMap<number, number>,
): Promise<void> {
  if (copies.size === 0) return
  for (let last = 0; ;) {
    const awards = await db
      .selectFrom('award_emoji')
      .selectAll()
      .where(inIdList(db, column, idList(db, [...copies.keys()])))
      .where('id', '>', last)
      .orderBy('id')
      .limit(BATCH)
      .execute()
    if (awards.length === 0) return
    last = awards.at(-1)!.id
    const rows = awards.map(({ id: _id, ...award }) => ({ ...award, [column]: copies.get(award[column]!)! }))
    await db.insertInto('award_emoji').values(rows).execute()
  }
}
