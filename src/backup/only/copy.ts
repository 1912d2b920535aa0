/** Copies the chosen rows from the temporary database into the instance. The triggers of the instance run. */
import { sql } from 'kysely'
import type { TransactionApp } from '../../context.ts'
import { columnsOf } from '../../store/columns.ts'
import type { Db, TransactionDb } from '../../store/database.ts'
import { isSqlite } from '../../store/dialect.ts'
import type { ForeignKey } from '../../store/foreign-keys.ts'
import type { Scratch } from './scratch.ts'
import type { Selection } from './selection.ts'

const ROWS_A_FETCH = 100

/** Call it in a transaction. Returns the number of restored rows by table. */
export async function copyRows(
  { db, store: living }: TransactionApp,
  { store, file }: Scratch,
  selection: Selection,
  progress?: (text: string) => void,
): Promise<Record<string, number>> {
  const backup = store.db
  const counters = await countersOf(db)
  const counts: Record<string, number> = {}
  const copy = file === null ? postgresCopier(db, backup) : await sqliteCopier(db, file)
  const late = selection.lateKeys()
  await copy.begin(late)
  for (const table of selection.tables) {
    const { stored: columns } = await columnsOf(living, table)
    const values = columns.map((column) => {
      // Triggers count the rows below this one.
      if (counters.has(`${table}.${column}`)) return '0'
      // A version names one state of a row for all time, also those after the backup was made.
      if (column === 'version') return `case when t.version > ${Date.now()} then t.version else ${Date.now()} end`
      return selection.reference(table, column, copy.schema) ?? `t."${column}"`
    })
    progress?.(`writing ${table}`)
    const condition = selection.condition(table, copy.schema)
    const rows = await copy.table(table, columns, values, condition)
    if (rows > 0) counts[table] = rows
  }
  await copy.end(late)
  return counts
}

interface Copier {
  /** Of the backup, with a dot. */
  readonly schema: string
  begin(late: readonly ForeignKey[]): Promise<void>
  table(table: string, columns: readonly string[], values: readonly string[], condition: string): Promise<number>
  end(late: readonly ForeignKey[]): Promise<void>
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

async function sqliteCopier(db: TransactionDb, file: string): Promise<Copier> {
  await sql.raw(`attach database '${file.replaceAll(`'`, `''`)}' as backup`).execute(db)
  return {
    schema: 'backup.',
    async begin() {
      await sql.raw('pragma defer_foreign_keys = on').execute(db)
    },
    async table(table, columns, values, condition) {
      const { numAffectedRows } = await sql
        .raw(
          `insert into main."${table}" (${quoted(columns)}) select ${values.join(', ')} from backup."${table}" t
            where ${condition} on conflict do nothing`,
        )
        .execute(db)
      return Number(numAffectedRows ?? 0)
    },
    // The commit checks the foreign keys.
    async end() {},
  }
}

/** The databases of a PostgreSQL server cannot read each other. */
function postgresCopier(db: TransactionDb, backup: Db): Copier {
  const setLate = async (late: readonly ForeignKey[], text: string) => {
    for (const { table, column } of late)
      for (const name of await constraintsOf(db, table, column))
        await sql.raw(`alter table "${table}" alter constraint "${name}" ${text}`).execute(db)
  }
  return {
    schema: '',
    begin: (late) => setLate(late, 'deferrable initially deferred'),
    async table(table, columns, values, condition) {
      const list = quoted(columns)
      const named = columns.map((column, n) => `${values[n]} as "${column}"`).join(', ')
      const insert = sql.raw(
        `insert into "${table}" (${list}) select ${list} from json_populate_recordset(null::"${table}", `,
      )
      return backup.transaction().execute(async (backup) => {
        await sql
          .raw(
            `declare rows no scroll cursor for select row_to_json(t)::text as line
              from (select ${named} from "${table}" t where ${condition}) t`,
          )
          .execute(backup)
        let count = 0
        for (;;) {
          const { rows } = await sql.raw<{ line: string }>(`fetch ${ROWS_A_FETCH} from rows`).execute(backup)
          if (rows.length > 0) {
            const lines = `[${rows.map(({ line }) => line).join(',')}]`
            const { numAffectedRows } = await sql`${insert}${lines}::json) on conflict do nothing`.execute(db)
            count += Number(numAffectedRows ?? 0)
          }
          if (rows.length < ROWS_A_FETCH) return count
        }
      })
    },
    async end(late) {
      await sql`set constraints all immediate`.execute(db)
      await setLate(late, 'not deferrable')
    },
  }
}

async function constraintsOf(db: Db, table: string, column: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select conname as name from pg_constraint f
    join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
    where f.contype = 'f' and array_length(f.conkey, 1) = 1
      and f.conrelid = ${`"${table}"`}::regclass and a.attname = ${column}`.execute(db)
  return rows.map(({ name }) => name)
}

const COUNTING = /\bupdate (\w+) set (\w+) = \2 \+ 1\b/g

/** The columns that triggers count up, as `table.column`. */
async function countersOf(db: Db): Promise<Set<string>> {
  const { rows } = await (
    isSqlite(db)
      ? sql<{ body: string }>`select sql as body from sqlite_master where type = 'trigger'`
      : sql<{ body: string }>`select prosrc as body from pg_proc where pronamespace = current_schema()::regnamespace`
  ).execute(db)
  const found = rows.flatMap(({ body }) => Array.from(body.matchAll(COUNTING), ([, table, name]) => `${table}.${name}`))
  return new Set(found.filter((name) => !name.endsWith('.version')))
}
