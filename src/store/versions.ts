/**
 * Rows with a version that a trigger increments at every update. An id and a version name one state of a row for ever,
 * so anything that was read or computed under them stays valid and can be shared.
 *
 * On SQLite, `returning` of an update returns the version before the update. Only a select returns the current version.
 */
import { Lru } from '../lib/async/lru.ts'
import { andThen, type MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Db, Row, Tables } from './database.ts'
import { idList, inIdList } from './dialect.ts'
import { hotQuery, type HotQuery } from './hot.ts'

type Versioned = { [T in keyof Tables]: Row<T> extends { id: number; version: number } ? T : never }[keyof Tables]

export interface RowState {
  readonly id: number
  readonly version: number
}

type Caches = Map<object, Lru<unknown>>

/** By the object that a database and its transactions share. */
const caches = new WeakMap<object, Caches>()

/**
 * A cache per store, for values that never become invalid. Inside a transaction there is no cache: its version may be
 * rolled back and later name another state.
 */
export function cachePerStore<V>(name: string, weigh: (value: V, key: string) => number): (db: Db) => Lru<V> | null {
  const key = {}
  return (db) => {
    if (db.isTransaction) return null
    const { adapter } = db.getExecutor()
    let ofStore = caches.get(adapter)
    if (!ofStore) caches.set(adapter, (ofStore = new Map() as Caches))
    let cache = ofStore.get(key) as Lru<V> | undefined
    if (!cache) ofStore.set(key, (cache = new Lru(name, weigh)) as Lru<unknown>)
    return cache
  }
}

/** For a store that closes, and for tests that count queries from the first one on. */
export function forgetCaches(db: Db): void {
  const { adapter } = db.getExecutor()
  for (const cache of caches.get(adapter)?.values() ?? []) cache.clear()
  caches.delete(adapter)
}

const ROW_BYTES = 200
const COLUMN_BYTES = 16

/** A text has a byte or two for each character, and a header. */
function weighRow(row: object): number {
  let weight = ROW_BYTES
  for (const value of Object.values(row)) weight += COLUMN_BYTES + (typeof value === 'string' ? 2 * value.length : 0)
  return weight
}

/** Rows in these states, by id: from the cache, else read in their current state. The rows are shared and frozen. */
export type CachedRows<R> = (db: Db, states: readonly RowState[]) => MaybePromise<ReadonlyMap<number, R>>

export function cachedRows<T extends Versioned>(table: T): CachedRows<Row<T>> {
  type R = Row<T> & RowState
  const cacheOf = cachePerStore<R>(`rows of ${table}`, weighRow)
  const byIds = hotQuery((db, p: { ids: string }) =>
    db
      .selectFrom(table as 'users')
      .selectAll()
      .where(inIdList(db, 'id', p.ids)),
  ) as unknown as HotQuery<{ ids: string }, R>

  return (db, states) => {
    const cache = cacheOf(db)
    const found = new Map<number, R>()
    const missing = new Set<number>()
    for (const { id, version } of states) {
      const known = cache?.get(String(id))
      if (known?.version === version) found.set(id, known)
      else missing.add(id)
    }
    if (missing.size === 0) return found
    return andThen(byIds(db, { ids: idList(db, [...missing]) }), (rows) => {
      for (const row of rows) {
        found.set(row.id, row)
        cache?.set(String(row.id), Object.freeze(row) as R)
      }
      return found
    })
  }
}
