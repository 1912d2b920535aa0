/**
 * Differences between the two databases: types, error codes, text search. Code outside `store/` does not ask which one
 * runs.
 */
import { SqliteAdapter, sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { Channel, Tables, TransactionDb } from './database.ts'
import { uniqueName } from './migrations/helpers/names.ts'

// oxlint-disable-next-line no-explicit-any -- a migration's database has no type yet
type AnyDb = Kysely<any>

export const isSqlite = (db: Pick<AnyDb, 'getExecutor'>): boolean => db.getExecutor().adapter instanceof SqliteAdapter

/**
 * The name of the violated unique constraint, or null. SQLite reports columns, PostgreSQL reports constraints. Both are
 * returned as `<table>_<column>_unique`, so unique indexes must be named that way.
 */
export function uniqueViolation(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  if (error.code === '23505' && 'constraint' in error) return String(error.constraint)
  if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE') return null
  const index = /index '([^']+)'/.exec(error.message)?.[1]
  if (index) return index
  const columns = [...error.message.matchAll(/(\w+)\.(\w+)/g)]
  const [first] = columns
  if (!first) return null
  return uniqueName(
    first[1]!,
    columns.map((column) => column[2]!),
  )
}

/** Whether the unique index on these columns was violated. */
export const violates = <T extends keyof Tables>(
  error: unknown,
  table: T,
  ...columns: (keyof Tables[T] & string)[]
): boolean => uniqueViolation(error) === uniqueName(table, columns)

/** Whether a foreign key was violated: the referenced row does not exist. */
export const isOrphan = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY'].includes(String(error.code))

/** Two transactions conflicted, or a migration came in between: the database rolled this one back completely. */
export const isConflict = (error: unknown): boolean =>
  (error instanceof Error && 'code' in error && ['40P01', '40001'].includes(String(error.code))) || isOutdated(error)

/** PostgreSQL planned the statement before a migration added a column to its result. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '0A000' &&
  'routine' in error &&
  error.routine === 'RevalidateCachedQuery'

/** PostgreSQL's statement timeout. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'

/** The disk of the database server is full, which may be another disk than ours. */
export const isStoreFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['53100', 'SQLITE_FULL'].includes(String(error.code))

/** A text column in a case-insensitive order that is the same on both databases. */
export const binaryText = (db: Pick<AnyDb, 'getExecutor'>, column: string): string =>
  isSqlite(db) ? `lower(${column})` : `lower(${column}) collate "C"`

export const SUBSTRING_FROM = 3

/**
 * Whether a column contains the text, regardless of case. Faster than `like`, which scans a long text once for each
 * character of a long pattern.
 */
export function isWithin(db: Pick<AnyDb, 'getExecutor'>, column: string, text: string): RawBuilder<boolean> {
  const find = sql.raw(isSqlite(db) ? 'instr' : 'strpos')
  return sql<boolean>`coalesce(${find}(lower(${sql.ref(column)}), lower(${text})) > 0, false)`
}

/** The pattern for `like … escape '\'` that matches every text which contains `text` literally. */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/**
 * The value for `whereContains`: `text` in the form that the index of the database needs. `columns` limits the search
 * to some of the indexed columns.
 */
export function substring(db: Pick<AnyDb, 'getExecutor'>, text: string, columns?: readonly string[]): string {
  if (!isSqlite(db)) return likePattern(text)
  const quoted = `"${text.replaceAll('"', '""')}"`
  return columns ? `{${columns.join(' ')}} : ${quoted}` : quoted
}

/**
 * Limits a query on `table` to rows whose indexed text contains the `substring`, of at least three characters,
 * regardless of case. Order the query by `foundId`: then SQLite reads the matches in that order and stops at the end of
 * the page.
 */
export function whereContains<TB extends keyof Tables, O>(
  db: Pick<AnyDb, 'getExecutor'>,
  query: SelectQueryBuilder<Tables, TB, O>,
  table: TB & string,
  columns: readonly string[],
  substring: string,
): SelectQueryBuilder<Tables, TB, O> {
  if (!isSqlite(db)) {
    const matches = columns.map((column) => sql`${sql.ref(`${table}.${column}`)} ilike ${substring}`)
    return query.where(sql<boolean>`(${sql.join(matches, sql` or `)})`)
  }
  const found = sql<{ rowid: number }>`${sql.raw(`${table}_search`)}`.as('found')
  return query
    .innerJoin(found, (join) => join.on(sql<boolean>`found.rowid = ${sql.ref(`${table}.id`)}`))
    .where(sql<boolean>`${sql.ref(`found.${table}_search`)} match ${substring}`) as unknown as SelectQueryBuilder<
    Tables,
    TB,
    O
  >
}

/** Ids of the rows of `table` whose indexed text contains the `substring`, as a subquery. */
export function matchingIds(
  db: Pick<AnyDb, 'getExecutor'>,
  table: keyof Tables,
  columns: readonly string[],
  substring: string,
): RawBuilder<number> {
  const search = sql.raw(`${table}_search`)
  if (isSqlite(db)) return sql`select rowid from ${search} where ${search} match ${substring}`
  const matches = columns.map((column) => sql`${sql.ref(column)} ilike ${substring}`)
  return sql`select id from ${sql.table(table)} where ${sql.join(matches, sql` or `)}`
}

export const matchingId = (db: Pick<AnyDb, 'getExecutor'>, table: keyof Tables): RawBuilder<number> =>
  sql<number>`${sql.ref(isSqlite(db) ? 'found.rowid' : `${table}.id`)}`

/** Selects rows of a table that are given as a JSON array of objects. */
export const rowsFromJson = (
  db: Pick<AnyDb, 'getExecutor'>,
  table: string,
  columns: readonly string[],
  json: string,
): RawBuilder<unknown> =>
  isSqlite(db)
    ? sql`select ${sql.join(columns.map((column) => sql`value ->> ${sql.lit(`$.${column}`)}`))}
      from json_each(${json}) where true`
    : sql`select ${sql.join(columns.map((column) => sql.ref(column)))}
      from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`

/**
 * Whether workers can claim rows concurrently (`for update skip locked`). On SQLite one writer runs at a time anyway.
 */
export const locksRows = (db: Pick<AnyDb, 'getExecutor'>): boolean => !isSqlite(db)

/**
 * An advisory lock on a name until the transaction ends: for values that must be unique over two tables. SQLite has
 * only one writer and needs no lock.
 */
export async function lockName(db: TransactionDb, name: string): Promise<void> {
  if (!isSqlite(db)) await sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(db)
}

/**
 * Notifies listeners (`Store.listen`) once the transaction has committed. On SQLite, listeners notice every write
 * anyway.
 */
export async function announce(db: AnyDb, channel: Channel): Promise<void> {
  if (!isSqlite(db)) await sql`select pg_notify(${channel}, '')`.execute(db)
}

/**
 * A column that must not be looked up by an index. SQLite has no statistics and otherwise prefers an index that avoids
 * a sort. PostgreSQL decides well on its own.
 */
export const unindexed = (db: Pick<AnyDb, 'getExecutor'>, column: string): RawBuilder<unknown> =>
  isSqlite(db) ? sql`+${sql.ref(column)}` : sql.ref(column)

/** A list of ids as one parameter, so that a query has the same shape for any length. */
export const idList = (db: Pick<AnyDb, 'getExecutor'>, ids: readonly number[]): string =>
  isSqlite(db) ? JSON.stringify(ids) : `{${ids.join()}}`

export function inIdList(db: Pick<AnyDb, 'getExecutor'>, column: string, list: string): RawBuilder<boolean> {
  if (isSqlite(db)) return sql<boolean>`${sql.ref(column)} in (select value from json_each(${list}))`
  return sql<boolean>`${sql.ref(column)} = any(${list}::bigint[])`
}

/** The same for texts. */
export const textList = (db: Pick<AnyDb, 'getExecutor'>, texts: readonly string[]): string =>
  isSqlite(db) ? JSON.stringify(texts) : `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join()}}`

export function inTextList(
  db: Pick<AnyDb, 'getExecutor'>,
  column: string | RawBuilder<unknown>,
  list: string,
): RawBuilder<boolean> {
  const text = typeof column === 'string' ? sql.ref(column) : column
  if (isSqlite(db)) return sql<boolean>`${text} in (select value from json_each(${list}))`
  return sql<boolean>`${text} = any(${list}::text[])`
}

/** Texts given as one JSON list, as a subquery. */
export const textsIn = (db: Pick<AnyDb, 'getExecutor'>, json: string): RawBuilder<string> =>
  isSqlite(db) ? sql`select value from json_each(${json})` : sql`select json_array_elements_text(${json}::json)`

/** Whether all texts in a column with a JSON list are contained in another JSON list. */
export function areAmong(db: Pick<AnyDb, 'getExecutor'>, column: string, json: string): RawBuilder<boolean> {
  const one = isSqlite(db)
    ? sql`json_each(${sql.ref(column)}) as one`
    : sql`json_array_elements_text(${sql.ref(column)}::json) as one(value)`
  return sql<boolean>`not exists (select 1 from ${one} where one.value not in (${textsIn(db, json)}))`
}

/** As an aggregate: a JSON list of `value`, as text. Without rows it may be null. */
export const jsonList = (
  db: Pick<AnyDb, 'getExecutor'>,
  value: RawBuilder<unknown>,
  orderBy: string,
): RawBuilder<string | null> =>
  isSqlite(db)
    ? sql`json_group_array(${value} order by ${sql.ref(orderBy)})`
    : sql`json_agg(${value} order by ${sql.ref(orderBy)})::text`

/** A JSON object of columns, by the given names. */
export function jsonObject(db: Pick<AnyDb, 'getExecutor'>, columns: Record<string, string>): RawBuilder<unknown> {
  const pairs = Object.entries(columns).flatMap(([name, column]) => [sql.lit(name), sql.ref(column)])
  return sql`${sql.raw(isSqlite(db) ? 'json_object' : 'json_build_object')}(${sql.join(pairs)})`
}
