/** How the two databases differ: the types of columns, and the order of texts. */
import { SqliteAdapter, sql, type CreateTableBuilder, type Kysely } from 'kysely'

// oxlint-disable-next-line no-explicit-any -- a migration's database has no type yet
export type AnyDb = Kysely<any>

export const isSqlite = (db: Pick<AnyDb, 'getExecutor'>): boolean => db.getExecutor().adapter instanceof SqliteAdapter

/** Column types by meaning. */
export function columnTypes(db: AnyDb) {
  const lite = isSqlite(db)
  return {
    timestamp: lite ? sql`text` : sql`timestamptz`,
    date: lite ? sql`text` : sql`date`,
    boolean: sql`boolean`,
    yes: lite ? sql`1` : sql`true`,
    no: lite ? sql`0` : sql`false`,
    /** Ids are never reused, not even after the newest row is deleted. */
    withId: <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
      lite
        ? table.addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
        : table.addColumn('id', 'bigint', (c) => c.primaryKey().generatedByDefaultAsIdentity()),
    ref: lite ? ('integer' as const) : ('bigint' as const),
    bytes: lite ? sql`blob` : sql`bytea`,
  }
}

/** A text column in a case-insensitive order that is the same on both databases. */
export const binaryText = (db: Pick<AnyDb, 'getExecutor'>, column: string): string =>
  isSqlite(db) ? `lower(${column})` : `lower(${column}) collate "C"`
