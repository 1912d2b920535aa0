/**
 * Lookups that do not depend on each other, asked in one statement: one round trip, one plan, and one state of the
 * database for all of them.
 *
 *     const found = await askTogether(db, { labels: labelsOf(db, ids), milestones: milestonesOf(db, ids) })
 *
 * The statement returns a JSON list of rows for each query. Their values get the form that they have in rows, by the
 * types of the columns, which are asked once for each query. Each column of a query must have its own name, and none
 * may have bytes.
 */
import { CompiledQuery } from 'kysely'
import { andThen, type MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Db } from './database.ts'
import { isSqlite } from './dialect.ts'
import { describeOf, directOf, type Column } from './direct.ts'
import type { HotQuery } from './hot.ts'

/** A hot query with its values, and what becomes of its rows. */
export interface Lookup<T> {
  ask(db: Db): MaybePromise<T>
  /** Null if there is nothing to ask. */
  compile(db: Db): CompiledQuery | null
  take(rows: readonly unknown[]): T
}

/** Without values there is nothing to ask, and no rows are found. */
export const lookup = <P extends object, R, T>(
  query: HotQuery<P, R>,
  values: P | null,
  take: (rows: readonly R[]) => T,
): Lookup<T> => ({
  ask: (db) => (values === null ? take([]) : andThen(query(db, values), take)),
  compile: (db) => (values === null ? null : query.compile(db, values)),
  take: (rows) => take(rows as readonly R[]),
})

/** For what cannot be asked. */
export const nothing = <T>(answer: T): Lookup<T> => ({ ask: () => answer, compile: () => null, take: () => answer })

export const mapped = <T, U>({ ask, compile, take }: Lookup<T>, use: (answer: T) => U): Lookup<U> => ({
  ask: (db) => andThen(ask(db), use),
  compile,
  take: (rows) => use(take(rows)),
})

type Lookups = Readonly<Record<string, Lookup<unknown>>>
export type Answers<L extends Lookups> = { readonly [K in keyof L]: L[K] extends Lookup<infer T> ? T : never }

export function askTogether<const L extends Lookups>(db: Db, lookups: L): MaybePromise<Answers<L>> {
  const named = Object.entries(lookups)
  const queries = named.map(([, one]) => one.compile(db))
  const asked = queries.filter((query) => query !== null)
  if (asked.length < 2) return askEach(db, named) as Promise<Answers<L>>
  return andThen(statementFor(db, asked), (statement) => {
    if (!statement) return askEach(db, named) as Promise<Answers<L>>
    const parameters = asked.flatMap((query) => query.parameters)
    return andThen(read(db, statement.sql, parameters), (lists) => {
      let n = 0
      const next = () => rowsFrom(lists[`list${n}`]!, statement.columns[n++]!)
      const answers = named.map(([name, { take }], at) => [name, take(queries[at] === null ? [] : next())])
      return Object.fromEntries(answers) as Answers<L>
    })
  })
}

async function askEach(db: Db, named: readonly (readonly [string, Lookup<unknown>])[]) {
  const answers = named.map(async ([name, one]) => [name, await one.ask(db)])
  return Object.fromEntries(await Promise.all(answers)) as unknown
}

type Lists = Readonly<Record<string, string>>

function read(db: Db, sql: string, parameters: readonly unknown[]): MaybePromise<Lists> {
  const direct = db.isTransaction ? undefined : directOf(db.getExecutor().adapter)
  if (direct) return direct.read<Lists>(sql, parameters)[0]!
  return db.executeQuery<Lists>(CompiledQuery.raw(sql, [...parameters])).then(({ rows }) => rows[0]!)
}

interface Statement {
  readonly sql: string
  /** Of each query. */
  readonly columns: readonly (readonly Column[])[]
}

/** By the object that a database and its transactions share, and the texts of the queries. */
const statements = new WeakMap<object, Map<string, Statement>>()

/** Null inside a transaction that is the first to ask: the columns are asked on another connection. */
function statementFor(db: Db, queries: readonly CompiledQuery[]): MaybePromise<Statement | null> {
  const { adapter } = db.getExecutor()
  const known = statements.get(adapter) ?? new Map<string, Statement>()
  if (known.size === 0) statements.set(adapter, known)
  const key = queries.map(({ sql }) => numberOf(sql)).join()
  const statement = known.get(key)
  if (statement || db.isTransaction) return statement ?? null
  return andThen(columnsOf(db, queries), (columns) => {
    const made = { columns, sql: isSqlite(db) ? forSqlite(queries, columns) : forPostgres(queries) }
    known.set(key, made)
    return made
  })
}

const numbers = new Map<string, number>()

/** A short name for the text of a compiled query. */
function numberOf(sql: string): number {
  const known = numbers.get(sql) ?? numbers.size
  if (known === numbers.size) numbers.set(sql, known)
  return known
}

/** One after the other: they would take all connections. */
function columnsOf(
  db: Db,
  queries: readonly CompiledQuery[],
  known: readonly (readonly Column[])[] = [],
): MaybePromise<readonly (readonly Column[])[]> {
  const next = queries[known.length]
  if (!next) return known
  const described = describeOf(db.getExecutor().adapter)(next.sql, next.parameters)
  return andThen(described, (columns) => columnsOf(db, queries, [...known, columns]))
}

/** Rows as lists, in the order of the columns: names would be written and read again for each row. */
const forSqlite = (queries: readonly CompiledQuery[], columns: Statement['columns']): string =>
  `select ${queries
    .map(({ sql }, n) => {
      const names = columns[n]!.map(({ name }) => `"${name}"`).join()
      return `(select json_group_array(json_array(${names})) from (${sql})) as list${n}`
    })
    .join()}`

function forPostgres(queries: readonly CompiledQuery[]): string {
  let before = 0
  const lists = queries.map(({ sql, parameters }, n) => {
    const shifted = sql.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`)
    before += parameters.length
    return `(select coalesce(json_agg(t), '[]')::text from (${shifted}) t) as list${n}`
  })
  return `select ${lists.join()}`
}

function rowsFrom(json: string, columns: readonly Column[]): Record<string, unknown>[] {
  const rows = JSON.parse(json) as (Record<string, unknown> | unknown[])[]
  return rows.map((row) => (Array.isArray(row) ? fromValues(row, columns) : converted(row, columns)))
}

function fromValues(values: readonly unknown[], columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [n, { name, read }] of columns.entries()) {
    const value = values[n]
    row[name] = read && value !== null ? read(value) : value
  }
  return row
}

function converted(row: Record<string, unknown>, columns: readonly Column[]): Record<string, unknown> {
  for (const { name, read } of columns) if (read && row[name] !== null) row[name] = read(row[name])
  return row
}
