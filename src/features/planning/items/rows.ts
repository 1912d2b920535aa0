/** Rows of items. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { taskCompletion } from '../../../lib/text/tasks.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList, locksRows } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { TimeStats } from '../time-tracking/entity.ts'
import type { ItemKind, ItemTable } from './kind.ts'

/** Locks the row until the transaction ends, and returns its current state. */
export async function lockItem<T extends ItemTable>(
  { db }: TransactionApp,
  { table }: ItemKind<T>,
  id: number,
): Promise<Row<T>> {
  const lock = locksRows(db) ? sql`for no key update` : sql``
  const { rows } = await sql<Row<T>>`select * from ${sql.table(table)} where id = ${id} ${lock}`.execute(db)
  if (!rows[0]) throw notFound() // deleted by another request meanwhile
  return rows[0]
}

/** Updates the timestamp after a related change, in the transaction of that change. */
export async function touchItem({ db, clock }: App, { table }: ItemKind, id: number): Promise<void> {
  await sql`update ${sql.table(table)} set updated_at = ${timestamp(clock)} where id = ${id}`.execute(db)
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
