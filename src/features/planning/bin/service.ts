/**
 * The bin: a deleted record leaves its tables at once, with everything that belongs to it, and comes back whole with the
 * same id. Its rows move in small steps (`store/taking-out.ts`). What a crash interrupts, a job continues.
 */
import { DAY, HOUR, MINUTE, after, timestamp } from '../../../clock.ts'
import { job, type App, type TransactionApp, type User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { locksRows } from '../../../store/dialect.ts'
import { drain } from '../../../store/draining.ts'
import { putBack, takeOut, takeOutBelow, type Part } from '../../../store/taking-out.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { binKind, takenNow, type BinKind } from './kinds.ts'
import type { DeletedItem } from './model.ts'

export interface Deletable {
  readonly id: number
  readonly project_id: number | null
  readonly group_id?: number | null
  readonly iid?: number | null
  readonly title: string
}

/** False if the instance has no bin: then the caller deletes the record. */
export async function moveToBin(
  app: App,
  kind: BinKind,
  { id, project_id, group_id = null, iid = null, title }: Deletable,
  actor: User,
): Promise<boolean> {
  const { deletion_adjourned_period: days } = await currentSettings(app)
  if (days === 0) return false
  const item = await transact(app, async (app) => {
    const item = await app.db
      .insertInto('deleted_items')
      .values({
        project_id,
        group_id,
        kind: kind.key,
        record_id: id,
        iid,
        title,
        state: 'taking',
        deleted_by_id: actor.id,
        deleted_at: timestamp(app.clock),
        due_at: after(app.clock, days * DAY),
      })
      .onConflict((oc) => oc.columns(['kind', 'record_id']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!item) throw notFound(nameOf(kind)) // another request deletes the record
    await kind.leaving?.(app, item)
    return item
  })
  if (!(await take(app, item))) throw notFound(nameOf(kind))
  return true
}

/** As 404 answers name a record: "Merge request". */
const nameOf = ({ key }: BinKind) => {
  const words = key.replaceAll('_', ' ')
  return words[0]!.toUpperCase() + words.slice(1)
}

/** False if the record was deleted in another way meanwhile, such as with its project. */
async function take(app: App, item: DeletedItem): Promise<boolean> {
  const kind = binKind(item.kind)
  const keep = ({ db }: TransactionApp, part: Part) => keepPart(db, item, part)
  await takeOutBelow(app, kind.table, item.record_id, keep)
  try {
    return await transact(app, async (app) => {
      const { db } = app
      if ((await lockItem(app, item.id))?.state !== 'taking') return true // the job was faster
      await kind.leaving?.(app, item)
      if (!(await takeOut(app, kind.table, item.record_id, keep))) {
        await db.deleteFrom('deleted_items').where('id', '=', item.id).execute()
        return false
      }
      await db.updateTable('deleted_items').set({ state: 'kept' }).where('id', '=', item.id).execute()
      await kind.deleted(app, item)
      return true
    })
  } catch (error) {
    // The record must stay: what belongs to it returns.
    if (error instanceof Refusal) await giveBack(app, item)
    throw error
  }
}

async function giveBack(app: App, item: DeletedItem): Promise<void> {
  await transact(app, ({ db }) =>
    db.updateTable('deleted_items').set({ state: 'restoring' }).where('id', '=', item.id).execute(),
  )
  while (await putNextBack(app, item));
  await transact(app, ({ db }) => db.deleteFrom('deleted_items').where('id', '=', item.id).execute())
}

async function keepPart(db: TransactionApp['db'], { id }: DeletedItem, part: Part): Promise<void> {
  await db
    .insertInto('deleted_parts')
    .values({ deleted_item_id: id, content: JSON.stringify(part) })
    .execute()
}

const lockItem = async ({ db }: TransactionApp, id: number): Promise<DeletedItem | undefined> =>
  db
    .selectFrom('deleted_items')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forUpdate())
    .executeTakeFirst()

/** Restores the record with its old id and number. */
export async function restoreFromBin(app: App, item: DeletedItem): Promise<void> {
  const kind = binKind(item.kind)
  await transact(app, async (app) => {
    if ((await lockItem(app, item.id))?.state !== 'kept') throw notFound('Deleted Item')
    await app.db.updateTable('deleted_items').set({ state: 'restoring' }).where('id', '=', item.id).execute()
    // The record itself left last.
    await putNextBack(app, item)
    if (!(await isThere(app, item))) throw takenNow(kind)
    await kind.returned?.(app, item)
  })
  await finishRestoring(app, item)
}

async function isThere({ db }: TransactionApp, { kind, record_id }: DeletedItem): Promise<boolean> {
  const found = await db
    .selectFrom(binKind(kind).table as 'issues')
    .select('id')
    .where('id', '=', record_id)
    .executeTakeFirst()
  return found !== undefined
}

async function finishRestoring(app: App, item: DeletedItem): Promise<void> {
  const kind = binKind(item.kind)
  while (await putNextBack(app, item));
  await kind.returning?.(app, item)
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('deleted_items').where('id', '=', item.id).executeTakeFirst()
    if (numDeletedRows > 0n) await kind.restored(app, item)
  })
}

/** False if no part is left. */
const putNextBack = (app: App, { id }: DeletedItem): Promise<boolean> =>
  transact(app, async (app) => {
    const part = await app.db
      .selectFrom('deleted_parts')
      .selectAll()
      .where('deleted_item_id', '=', id)
      .orderBy('id', 'desc')
      .limit(1)
      .$if(locksRows(app.db), (query) => query.forUpdate())
      .executeTakeFirst()
    if (!part) return false
    await putBack(app, JSON.parse(part.content) as Part)
    await app.db.deleteFrom('deleted_parts').where('id', '=', part.id).execute()
    return true
  })

/** Deletes the record for good. */
export async function purgeFromBin(app: App, item: DeletedItem): Promise<void> {
  await transact(app, async (app) => {
    if ((await lockItem(app, item.id))?.state !== 'kept') throw notFound('Deleted Item')
    await app.db.updateTable('deleted_items').set({ state: 'purging' }).where('id', '=', item.id).execute()
  })
  await purge(app, item)
}

async function purge(app: App, item: DeletedItem): Promise<void> {
  await drain(app, 'deleted_items', item.id)
  await transact(app, async (app) => {
    await app.db.deleteFrom('deleted_items').where('id', '=', item.id).execute()
    await binKind(item.kind).purged?.(app, item)
  })
}

/** Another request was faster, or the record must stay. */
const ignoreRefusal = (error: unknown) => {
  if (!(error instanceof Refusal)) throw error
}

const ITEMS_A_TURN = 100

export const purgeDue = job<object>(
  'bin.purge',
  async (app) => {
    for (;;) {
      const due = await app.db
        .selectFrom('deleted_items')
        .selectAll()
        .where('due_at', '<=', timestamp(app.clock))
        .where('state', '=', 'kept')
        .orderBy('due_at')
        .limit(ITEMS_A_TURN)
        .execute()
      for (const item of due) await purgeFromBin(app, item).catch(ignoreRefusal)
      if (due.length < ITEMS_A_TURN) return
    }
  },
  { every: HOUR },
)

/** Continues what a killed process began. Two processes may do so at once: each part moves only once. */
export const continueMoves = job<object>(
  'bin.continue',
  async (app) => {
    const moving = await app.db
      .selectFrom('deleted_items')
      .selectAll()
      .where('state', '!=', 'kept')
      .orderBy('id')
      .execute()
    for (const item of moving) {
      if (item.state === 'taking') await take(app, item).catch(ignoreRefusal)
      else if (item.state === 'restoring') await finishRestoring(app, item)
      else await purge(app, item)
    }
  },
  { every: MINUTE, recovers: true },
)
