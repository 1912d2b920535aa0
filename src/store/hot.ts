/**
 * Queries on the path of every request, built and compiled once per store instead of once per call:
 *
 *     const findUser = hotQuery((db, p: Slot<{ id: number }>) => db.selectFrom('users').where('id', '=', p.id).selectAll())
 *     const [user] = await findUser(app.db, { id: 7 })
 */
import type { CompiledQuery, Compilable } from 'kysely'
import type { Db } from './database.ts'

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Stands for the value while the query is built; its type is the value's, so the builder checks it. */
export type Slots<P> = { [K in keyof P]: P[K] }

export function hotQuery<P extends Record<string, unknown>, R>(
  build: (db: Db, slots: Slots<P>) => Compilable<R>,
): (db: Db, values: P) => Promise<R[]> {
  const compiled = new WeakMap<object, CompiledQuery<R>>()
  const slots = new Proxy({} as Slots<P>, { get: (_, name) => new Placeholder(String(name)) })

  return async (db, values) => {
    const { adapter } = db.getExecutor()
    let query = compiled.get(adapter)
    if (!query) compiled.set(adapter, (query = build(db, slots).compile()))
    const parameters = query.parameters.map((p) => (p instanceof Placeholder ? values[p.name] : p))
    const { rows } = await db.executeQuery<R>({ ...query, parameters })
    return rows
  }
}
