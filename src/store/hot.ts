/**
 * Queries on the path of every request, built and compiled once per shape instead of once per call. A shape is the set
 * of values that are given (neither null nor undefined), so optional filters work too:
 *
 *     const findUsers = hotQuery((db, p: { state?: string }, given) =>
 *       db.selectFrom('users').selectAll().$if(given('state'), (query) => query.where('state', '=', p.state!)))
 *     await findUsers(app.db, { state: 'active' })
 *
 * On the embedded engine they run past the query builder altogether.
 */
import type { CompiledQuery, Compilable } from 'kysely'
import type { MaybePromise } from '../lib/maybe-promise.ts'
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
  /** At once where the engine lives in this process. */
  (db: Db, values: P): MaybePromise<R[]>
  /** The very statement that runs, for tests that ask the engine how it would go about it. */
  compile(db: Db, values: P): CompiledQuery<R>
}

export function hotQuery<P extends object, R>(
  build: (db: Db, values: P, given: IsGiven<P>) => Compilable<R>,
): HotQuery<P, R> {
  const compiled = new WeakMap<object, Map<string, CompiledQuery<R>>>()
  // Stands for the values while the query is built; its type is theirs, so the builder checks it.
  const slots = new Proxy({} as P, { get: (_, name) => new Placeholder(String(name)) })

  const queryFor = (db: Db, values: P): CompiledQuery<R> => {
    const { adapter } = db.getExecutor()
    const shapes = compiled.get(adapter) ?? new Map<string, CompiledQuery<R>>()
    if (shapes.size === 0) compiled.set(adapter, shapes)
    const shape = shapeOf(values)
    let query = shapes.get(shape)
    if (!query) {
      query = build(db, slots, (name) => values[name] !== undefined && values[name] !== null).compile()
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
