/**
 * Deletes dependent rows of a row in small batches. Deleting a project with thousands of issues by its row alone is one
 * statement that takes seconds, and blocks all other writers. Here all rows that foreign keys would cascade to are
 * deleted first, deepest first, in batches with pauses in between. Small numbers of rows are left for the cascade when
 * the caller deletes the row. Each batch is independent: after a crash the caller drains again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db, Store, Tables } from './database.ts'
import { foreignKeysOf, rowKey, type ForeignKey } from './foreign-keys.ts'

const ROWS_A_STEP = 100
const PAUSE_MS = 2
const DEEPEST = 6

interface Draining {
  readonly cascades: ReadonlyMap<string, readonly ForeignKey[]>
  readonly except: readonly string[]
  readonly signal: AbortSignal | undefined
}

/**
 * Do not call it in a transaction, which would block other writers all the time. `except`: tables whose rows the caller
 * still needs.
 */
export async function drain(
  { store }: { readonly store: Store },
  table: keyof Tables,
  id: number,
  { except = [], signal }: { except?: readonly (keyof Tables)[]; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const keys = await foreignKeysOf(store)
  const cascades = Map.groupBy(
    keys.filter(({ onDelete }) => onDelete === 'cascade'),
    ({ parent }) => parent,
  )
  await drainBelow(store.relaxed, { cascades, except, signal }, [table], [id])
}

async function drainBelow(db: Db, draining: Draining, path: readonly string[], ids: readonly number[]): Promise<void> {
  const { cascades, except, signal } = draining
  for (const cascade of cascades.get(path.at(-1)!) ?? []) {
    // Rows that refer to their own table are left to the database.
    if (path.includes(cascade.table) || except.includes(cascade.table) || path.length > DEEPEST) continue
    for (;;) {
      signal?.throwIfAborted()
      const rows = await someOf(db, cascade, ids)
      if (rows.length > 0 && cascade.hasId) await drainBelow(db, draining, [...path, cascade.table], rows)
      if (rows.length < ROWS_A_STEP) break
      await sql`delete from ${sql.table(cascade.table)} where ${rowKey(db, cascade)} in (${sql.join(rows)})`.execute(db)
      await sleep(PAUSE_MS)
    }
  }
}

async function someOf(db: Db, cascade: ForeignKey, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`select ${rowKey(db, cascade)} as key from ${sql.table(cascade.table)}
    where ${sql.ref(cascade.column)} in (${sql.join(ids)}) limit ${ROWS_A_STEP}`.execute(db)
  return rows.map(({ key }) => key)
}
