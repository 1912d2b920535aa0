/** Changes by another process, to every column of a table. */
import { sql } from 'kysely'
import type { TestForge } from '../src/forge.ts'
import type { Store, Tables } from '../src/store/database.ts'
import { openStore } from '../src/store/open.ts'

export const openSecondStore = ({ app: { config } }: TestForge): Promise<Store> =>
  openStore(config.databaseUrl!, { durable: false, shared: true, poolSize: 2 })

/** Valid values for columns whose present value does not show them. */
type Others = Record<string, unknown>

function otherThan(value: unknown, column: string): unknown {
  if (value === null && column.endsWith('_at')) return '2020-01-02T03:04:05.678Z'
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (typeof value !== 'string') return 'other'
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return '2020-01-02T03:04:05.678Z'
  return /^\d{4}-\d\d-\d\d$/.test(value) ? '2020-01-02' : `${value}-other`
}

/**
 * Changes one column of a row after the other, by name, except those in `except`; `look` is called after each, with its name.
 */
export async function changeEach(
  { db }: Store,
  table: keyof Tables,
  id: number,
  { others = {}, except }: { others?: Others; except: readonly string[] },
  look: (column: string) => Promise<void>,
): Promise<void> {
  const { rows } = await sql<Others>`select * from ${sql.table(table)} where id = ${id}`.execute(db)
  const columns = Object.entries(rows[0]!).toSorted(([one], [other]) => one.localeCompare(other))
  for (const [column, value] of columns) {
    if (column === 'id' || column === 'version' || except.includes(column)) continue
    const other = column in others ? others[column] : otherThan(value, column)
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${other} where id = ${id}`.execute(db)
    await look(column)
  }
}
