/** Rows of items. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { TransactionApp } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { taskCompletion } from '../../../lib/text/tasks.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList, locksRows } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { TimeStats } from '../time-tracking/entity.ts'
import { perKind, type ItemKind, type ItemRow, type ItemTable } from './kind.ts'

const lockedRow = perKind(({ table }) =>
  hotQuery(
    (db, p: { id: number }) => sql<ItemRow>`select * from ${sql.table(table)} where id = ${p.id}
      ${locksRows(db) ? sql`for no key update` : sql``}`,
  ),
)

/** Locks the row until the transaction ends, and returns its current state. */
export async function lockItem<T extends ItemTable>(
  { db }: TransactionApp,
  kind: ItemKind<T>,
  id: number,
): Promise<Row<T>> {
  const [row] = await lockedRow(kind)(db, { id })
  if (!row) throw notFound() // deleted by another request meanwhile
  return row as Row<T>
}

const touchedRow = perKind(({ table }) =>
  hotQuery(
    (_db, p: { id: number; now: string }) =>
      sql`update ${sql.table(table)} set updated_at = ${p.now} where id = ${p.id}`,
  ),
)

/** Updates the timestamp after a related change, in the transaction of that change. */
export async function touchItem({ db, clock }: TransactionApp, kind: ItemKind, id: number): Promise<void> {
  await touchedRow(kind)(db, { id, now: timestamp(clock) })
}

/** Writes estimate and time spent, in the transaction that emits the event. */
export async function storeTimes<T extends ItemTable>(
  { db, clock }: TransactionApp,
  { table }: ItemKind<T>,
  id: number,
  { time_estimate, total_time_spent }: TimeStats,
  by: number,
): Promise<Row<T>> {
  const { rows } = await sql<Row<T>>`update ${sql.table(table)}
    set time_estimate = ${time_estimate}, total_time_spent = ${total_time_spent}, updated_by_id = ${by},
      updated_at = ${timestamp(clock)}
    where id = ${id} returning *`.execute(db)
  return rows[0]!
}

/** Finds rows, in the order of the ids. */
export function rowFinder<T extends ItemTable>({ table }: ItemKind<T>) {
  const byIds = hotQuery(
    (db, p: { ids: string }) =>
      sql<Row<T> & { id: number }>`select * from ${sql.table(table)} where ${inIdList(db, 'id', p.ids)}`,
  )
  return async (db: Db, ids: readonly number[]): Promise<Row<T>[]> => {
    if (ids.length === 0) return []
    const found = new Map((await byIds(db, { ids: idList(db, ids) })).map((row) => [row.id, row]))
    return ids.map((id) => found.get(id)).filter((row) => row !== undefined)
  }
}

/** The columns of task items in the description. */
export function tasksOf(description: string | null): { tasks: number; tasks_completed: number } {
  const { count, completed_count } = taskCompletion(description ?? '')
  return { tasks: count, tasks_completed: completed_count }
}
