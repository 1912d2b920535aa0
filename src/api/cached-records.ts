/**
 * A cache of records as ready JSON. A cached record is found by its scope (what it shows, of which record, for which
 * class of viewers). It is valid while its version key is the same: the versions of every row it shows (see
 * `store/versions.ts`), and all other values it depends on. The version key is read for every answer, so a commit of
 * any process is visible at once and invalidates no other cached record.
 */
import type { App } from '../context.ts'
import { andThen, type MaybePromise } from '../lib/async/maybe-promise.ts'
import { cachePerStore } from '../store/versions.ts'
import { Json } from './json.ts'

/** The memory of an entry besides its JSON, which is stored as bytes and as text. */
const OVERHEAD = 500

export interface CachedRecordKey {
  readonly cacheKey: string
  readonly versionKey: string
}

interface CachedRecord {
  readonly versionKey: string
  readonly json: Json<unknown>
}

const cacheOf = cachePerStore<CachedRecord>(
  'records',
  ({ versionKey, json }) => OVERHEAD + versionKey.length + 2 * json.bytes.length,
)

/**
 * One record for each of `keys`. `present` creates the missing records, by their indexes; for a record that was deleted
 * in the meantime it returns undefined, and the record is left out. A null key stands for a record that depends on
 * something no version key covers; that record is not cached.
 */
export function cachedRecords<T>(
  { db }: App,
  keys: readonly (CachedRecordKey | null)[],
  present: (missing: number[]) => MaybePromise<(T | undefined)[]>,
): MaybePromise<Json<T>[]> {
  const cache = cacheOf(db)
  const missing: number[] = []
  const found = keys.map((key, i) => {
    const known = key && cache?.get(key.cacheKey)
    if (known && known.versionKey === key.versionKey) return known.json as Json<T>
    missing.push(i)
    return undefined
  })
  if (missing.length === 0) return found as Json<T>[]
  return andThen(present(missing), (records) => {
    for (const [n, record] of records.entries()) {
      if (record === undefined) continue
      const key = keys[missing[n]!]
      const json = (found[missing[n]!] = Json.of(record))
      if (key) cache?.set(key.cacheKey, { versionKey: key.versionKey, json })
    }
    return found.filter((json) => json !== undefined)
  })
}
