/**
 * Queries that run in every request. They are built and compiled once per shape instead of once per call. A shape is
 * the set of given values (neither null nor undefined), so optional filters work too:
 *
 *     const findUsers = hotQuery((db, p: { state?: string }, given) =>
 *       db.selectFrom('users').selectAll().$if(given('state'), (query) => query.where('state', '=', p.state!)))
 *     await findUsers(app.db, { state: 'active' })
 *
 * On SQLite they bypass the query builder.
 */
import type { CompiledQuery } from 'kysely'
import type { MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Db } from './database.ts'
import { directOf } from './direct.ts'

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
    const parameters = bind(query, values)
    const direct = db.isTransaction ? undefined : directOf(db.getExecutor().adapter)
    if (direct) return direct.read<R>(query.sql, parameters)
    return db.executeQuery<R>({ ...query, parameters }).then(({ rows }) => rows)
  }
  const compile = (db: Db, values: P) => ({ ...queryFor(db, values), parameters: bind(queryFor(db, values), values) })
  return Object.assign(run, { compile })
}

export function shapeOf(values: object): string {
  let shape = ''
  for (const name in values) {
    const value = values[name as keyof object] as unknown
    if (value !== undefined && value !== null) shape += `${name},`
  }
  return shape
}
