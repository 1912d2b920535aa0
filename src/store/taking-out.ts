/**
 * Takes a row out of its table with all rows that foreign keys would delete with it, and puts them back later as they
 * were. The rows move in small batches, so that other writers never wait long. Every batch is a part: the caller keeps
 * it in the transaction that takes it out, so that a crash loses nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { columnsOf } from './columns.ts'
import type { Store, TransactionDb } from './database.ts'
import { idList, inIdList, rowsFromJson } from './dialect.ts'
import { foreignKeysOf, rowKey, type ForeignKey } from './foreign-keys.ts'
import { transact, type InTransaction, type Transactable } from './transact.ts'

type AnyRow = Readonly<Record<string, unknown>>

/** Rows of one table, or references that were set to null, as pairs of a row's id and the id in its column. */
export type Part =
  | { readonly table: string; readonly rows: readonly AnyRow[] }
  | { readonly table: string; readonly column: string; readonly links: readonly (readonly [number, number])[] }

interface TakingApp extends Transactable {
  readonly store: Store
}

export type KeepPart<A extends TakingApp> = (app: InTransaction<A>, part: Part) => Promise<void>

const ROWS_A_PART = 100
/** A part ends with the row that exceeds this size. */
const BYTES_A_PART = 1024 * 1024
const PAUSE_MS = 2

/** Takes out what is below the row. The row itself stays. In a transaction, everything happens in it. */
export async function takeOutBelow<A extends TakingApp>(
  app: A,
  table: string,
  id: number,
  keep: KeepPart<A>,
): Promise<void> {
  await takeBelow({ app, keys: await foreignKeysOf(app.store), keep }, [table], [id])
}

/** Takes out the row itself. False if another request has deleted it meanwhile. */
export async function takeOut<A extends TakingApp>(
  app: InTransaction<A>,
  table: string,
  id: number,
  keep: KeepPart<A>,
): Promise<boolean> {
  await takeOutBelow(app, table, id, keep)
  const rows = await deleted(app.db, table, sql`id = ${id}`)
  if (rows.length > 0) await keep(app, { table, rows })
  return rows.length > 0
}

interface Taking<A extends TakingApp> {
  readonly app: A
  readonly keys: readonly ForeignKey[]
  readonly keep: KeepPart<A>
}

async function takeBelow<A extends TakingApp>(
  taking: Taking<A>,
  path: readonly string[],
  ids: readonly number[],
): Promise<void> {
  for (const key of taking.keys) {
    if (key.parent !== path.at(-1)) continue
    if (key.onDelete === 'set null') await unlink(taking, key, ids)
    else if (!path.includes(key.table)) await takeRows(taking, key, path, ids)
  }
}

async function takeRows<A extends TakingApp>(
  taking: Taking<A>,
  key: ForeignKey,
  path: readonly string[],
  ids: readonly number[],
): Promise<void> {
  const { app, keep } = taking
  for (;;) {
    const { found, isLast } = await nextRows(app, key, ids)
    if (found.length === 0) return
    if (key.hasId) await takeBelow(taking, [...path, key.table], found)
    await transact(app, async (app) => {
      const { db } = app
      // A row may belong to another record by now.
      const isBelow = inIdList(db, key.column, idList(db, ids))
      const rows = await deleted(db, key.table, sql`${rowKey(db, key)} in (${sql.join(found)}) and ${isBelow}`)
      if (rows.length > 0) await keep(app, { table: key.table, rows })
    })
    if (isLast) return
    if (!app.db.isTransaction) await sleep(PAUSE_MS)
  }
}

/** The next rows that refer to one of these ids, as many as fit in a part. */
async function nextRows(
  { db, store }: TakingApp,
  key: ForeignKey,
  ids: readonly number[],
): Promise<{ found: number[]; isLast: boolean }> {
  const { text } = await columnsOf(store, key.table)
  const sizes = text.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
  const size = sizes.length > 0 ? sql.join(sizes, sql` + `) : sql`0`
  const { rows } = await sql<{ key: number; size: number }>`
    select ${rowKey(db, key)} as key, ${size} as size from ${sql.table(key.table)}
    where ${inIdList(db, key.column, idList(db, ids))} limit ${ROWS_A_PART}`.execute(db)
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += row.size) > BYTES_A_PART)
  const found = (end === -1 ? rows : rows.slice(0, end + 1)).map(({ key }) => key)
  return { found, isLast: found.length === rows.length && rows.length < ROWS_A_PART }
}

async function deleted(db: TransactionDb, table: string, condition: RawBuilder<unknown>): Promise<AnyRow[]> {
  const { rows } = await sql<AnyRow>`delete from ${sql.table(table)} where ${condition} returning *`.execute(db)
  return rows
}

/** Sets the references to these ids to null, as a deletion would. */
async function unlink<A extends TakingApp>({ app, keep }: Taking<A>, key: ForeignKey, ids: readonly number[]) {
  const { table, column } = key
  for (;;) {
    const { rows } = await sql<{ id: number; to: number }>`
      select id, ${sql.ref(column)} as "to" from ${sql.table(table)}
      where ${inIdList(app.db, column, idList(app.db, ids))} limit ${ROWS_A_PART}`.execute(app.db)
    if (rows.length === 0) return
    await transact(app, async (app) => {
      const found = idList(
        app.db,
        rows.map(({ id }) => id),
      )
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = null
        where ${inIdList(app.db, 'id', found)} and ${sql.ref(column)} is not null`.execute(app.db)
      await keep(app, { table, column, links: rows.map(({ id, to }) => [id, to] as const) })
    })
    if (rows.length < ROWS_A_PART) return
    if (!app.db.isTransaction) await sleep(PAUSE_MS)
  }
}

/**
 * Puts a part back, the last part first. What a row refers to may be gone by now: then the column becomes null, or the
 * row is left out, as a deletion would have done. Triggers count the rows again: they counted them down when the rows
 * left, before the row that has the count.
 */
export async function putBack<A extends TakingApp>(app: InTransaction<A>, part: Part): Promise<void> {
  if ('links' in part) return relink(app.db, part)
  const { table } = part
  const { stored } = await columnsOf(app.store, table)
  const [first, ...others] = await withoutGone(app, table, part.rows)
  if (!first) return
  // A migration may have added columns meanwhile.
  const columns = stored.filter((column) => column in first)
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    ${rowsFromJson(app.db, table, columns, JSON.stringify([first, ...others]))}
    on conflict do nothing`.execute(app.db)
}

async function relink(db: TransactionDb, part: Extract<Part, { links: unknown }>): Promise<void> {
  const { table, column } = part
  for (const [to, links] of Map.groupBy(part.links, (link) => link[1])) {
    const ids = idList(
      db,
      links.map(([id]) => id),
    )
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${to}
      where ${inIdList(db, 'id', ids)} and ${sql.ref(column)} is null`.execute(db)
  }
}

async function withoutGone<A extends TakingApp>(
  app: InTransaction<A>,
  table: string,
  rows: readonly AnyRow[],
): Promise<AnyRow[]> {
  let left = [...rows]
  const keys = (await foreignKeysOf(app.store)).filter((key) => key.table === table)
  for (const { column, parent, onDelete } of keys) {
    const ids = [...new Set(left.map((row) => row[column] as number | null))].filter((id) => id !== null)
    if (ids.length === 0) continue
    const { rows: found } = await sql<{ id: number }>`select id from ${sql.table(parent)}
      where ${inIdList(app.db, 'id', idList(app.db, ids))}`.execute(app.db)
    const there = new Set<unknown>([...found.map(({ id }) => id), null])
    left =
      onDelete === 'set null'
        ? left.map((row) => (there.has(row[column]) ? row : { ...row, [column]: null }))
        : left.filter((row) => there.has(row[column]))
  }
  return left
}
