/**
 * Queries that run in every request. They are built and compiled once per shape instead of once per call. A shape is
 * the set of given values (neither null nor undefined), so optional filters work too:
 *
 *     const findUsers = hotQuery((db, p: { state?: string }, given) =>
 *       db.selectFrom('users').selectAll().$if(given('state'), (query) => query.where('state', '=', p.state!)))
 *     await findUsers(app.db, { state: 'active' })
 *
 * On SQLite they bypass the query builder. A write must run in a transaction, and answers the rows that it returns.
 */
import type { CompiledQuery } from 'kysely'
import type { MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Db, NewRow, Row, RowChange, Tables } from './database.ts'
import { directOf, directTransactionOf } from './direct.ts'

export type IsGiven<P> = (name: keyof P) => boolean

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export interface HotQuery<P, R> {
  /** Synchronous if the database runs in this process. */
  (db: Db, values: P): MaybePromise<R[]>
  /** The exact statement that runs, for tests that check the query plan. */
  compile(db: Db, values: P): CompiledQuery<R>
}

export function hotQuery<P extends object, R>(
  build: (db: Db, values: P, given: IsGiven<P>) => { compile(db: Db): CompiledQuery<R> },
): HotQuery<P, R> {
  const compiled = new WeakMap<object, Map<string, CompiledQuery<R>>>()
  // Stands for the values while the query is built. It has their type, so the query builder checks the types.
  const slots = new Proxy({} as P, { get: (_, name) => new Placeholder(String(name)) })

  const queryFor = (db: Db, values: P): CompiledQuery<R> => {
    const { adapter } = db.getExecutor()
    const shapes = compiled.get(adapter) ?? new Map<string, CompiledQuery<R>>()
    if (shapes.size === 0) compiled.set(adapter, shapes)
    const shape = shapeOf(values)
    let query = shapes.get(shape)
    if (!query) {
      query = build(db, slots, (name) => values[name] !== undefined && values[name] !== null).compile(db)
      shapes.set(shape, query)
    }
    return query
  }
  const bind = (query: CompiledQuery<R>, values: P) =>
    query.parameters.map((p) => (p instanceof Placeholder ? values[p.name as keyof P] : p))

  const run = (db: Db, values: P): MaybePromise<R[]> => {
    const query = queryFor(db, values)
    return execute(db, query, bind(query, values), { writes: false })
  }
  const compile = (db: Db, values: P) => {
    const query = queryFor(db, values)
    return { ...query, parameters: bind(query, values) }
  }
  return Object.assign(run, { compile })
}

/** Outside a transaction, a write takes the usual way. */
function execute<R>(
  db: Db,
  query: CompiledQuery<R>,
  parameters: readonly unknown[],
  { writes }: { writes: boolean },
): MaybePromise<R[]> {
  if (db.isTransaction) {
    const transaction = directTransactionOf(db)
    if (transaction) return transaction.run<R>(query.sql, parameters)
  } else if (!writes) {
    const direct = directOf(db.getExecutor().adapter)
    if (direct) return direct.read<R>(query.sql, parameters)
  }
  return db.executeQuery<R>({ ...query, parameters }).then(({ rows }) => rows)
}

/** Rows of one statement; more are several statements, so that few are compiled. */
const ROWS_AT_ONCE = 20

type TableWithId = { [T in keyof Tables]: 'id' extends keyof Tables[T] ? T : never }[keyof Tables]

type Inserted<T extends keyof Tables, C> = Pick<NewRow<T>, C & keyof NewRow<T>>

/**
 * Inserts rows with the given columns and returns those inserted, compiled once per number of rows. A column without a
 * value is null. With `skip`, a row that violates a unique index is left out.
 */
export function hotInsert<T extends keyof Tables, C extends keyof Tables[T] & string>(
  table: T,
  columns: readonly C[],
  { skip = false }: { skip?: boolean } = {},
): (db: Db, rows: readonly Inserted<T, C>[]) => Promise<Row<T>[]> {
  const compiled = new WeakMap<object, CompiledQuery<Row<T>>[]>()

  const queryFor = (db: Db, count: number): CompiledQuery<Row<T>> => {
    const { adapter } = db.getExecutor()
    const queries = compiled.get(adapter) ?? []
    if (queries.length === 0) compiled.set(adapter, queries)
    return (queries[count] ??= compileInsert(db, count))
  }
  const compileInsert = (db: Db, count: number) =>
    db
      .insertInto(table as 'events')
      .values(
        Array.from({ length: count }, () => Object.fromEntries(columns.map((c) => [c, new Placeholder(c)])) as never),
      )
      .$if(skip, (query) => query.onConflict((c) => c.doNothing()))
      .returningAll()
      .compile() as unknown as CompiledQuery<Row<T>>

  return async (db, rows) => {
    const inserted: Row<T>[] = []
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const some = rows.slice(from, from + ROWS_AT_ONCE)
      // The builder puts the values of a row in the order of the columns.
      const parameters = some.flatMap((row) => columns.map((column) => row[column as keyof typeof row] ?? null))
      inserted.push(...(await execute(db, queryFor(db, some.length), parameters, { writes: true })))
    }
    return inserted
  }
}

/** Updates columns of the row with an id and returns it, compiled once per set of columns; undefined if it is gone. */
export function hotUpdate<T extends TableWithId>(
  table: T,
): (db: Db, id: number, change: RowChange<T>) => Promise<Row<T> | undefined> {
  const compiled = new WeakMap<object, Map<string, CompiledQuery<Row<T>>>>()

  const queryFor = (db: Db, columns: readonly string[]): CompiledQuery<Row<T>> => {
    const { adapter } = db.getExecutor()
    const queries = compiled.get(adapter) ?? new Map<string, CompiledQuery<Row<T>>>()
    if (queries.size === 0) compiled.set(adapter, queries)
    const shape = columns.join()
    const query = queries.get(shape) ?? compileUpdate(db, columns)
    queries.set(shape, query)
    return query
  }
  const compileUpdate = (db: Db, columns: readonly string[]) =>
    db
      .updateTable(table as 'events')
      .set(Object.fromEntries(columns.map((column) => [column, new Placeholder(column)])) as never)
      .where('id', '=', new Placeholder('id') as never)
      .returningAll()
      .compile() as unknown as CompiledQuery<Row<T>>

  return async (db, id, change) => {
    const given = Object.entries(change).filter(([, value]) => value !== undefined)
    const query = queryFor(
      db,
      given.map(([column]) => column),
    )
    const [row] = await execute(db, query, [...given.map(([, value]) => value), id], { writes: true })
    return row
  }
}

export function shapeOf(values: object): string {
  let shape = ''
  for (const name in values) {
    const value = values[name as keyof object] as unknown
    if (value !== undefined && value !== null) shape += `${name},`
  }
  return shape
}
