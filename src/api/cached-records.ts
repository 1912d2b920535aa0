/**
 * Records as ready JSON, kept for as long as they are true. A fragment is found by its place (what it shows, of which
 * record, for which class of viewers) and holds while its stamp is the same: the versions of every row it shows (see
 * `store/versions.ts`), and whatever else it depends on as it is. The stamp is read anew for every answer, so a commit
 * of any process shows at once, and leaves all other fragments where they are.
 */
import type { App } from '../context.ts'
import { andThen, type MaybePromise } from '../lib/async/maybe-promise.ts'
import { cachePerStore } from '../store/versions.ts'
import { Json } from './json.ts'

const MOST_BYTES = 32 * 1024 * 1024
/** Of an entry beside its JSON, which is kept as bytes and as text. */
const OVERHEAD = 500

export interface CachedRecordKey {
  readonly place: string
  readonly versionKey: string
}

interface CachedRecord {
  readonly versionKey: string
  readonly json: Json<unknown>
}

const cacheOf = cachePerStore<CachedRecord>(
  MOST_BYTES,
  ({ versionKey, json }) => OVERHEAD + versionKey.length + 2 * json.bytes.length,
)

/**
 * One for each of `keys`. `present` makes the records of those that are not known, by their indexes; one that is gone
 * meanwhile is undefined, and left out. Null stands for one that depends on what no stamp tells, and is not kept.
 */
export function cachedRecords<T>(
  { db }: App,
  keys: readonly (CachedRecordKey | null)[],
  present: (missing: number[]) => MaybePromise<(T | undefined)[]>,
): MaybePromise<Json<T>[]> {
  const cache = cacheOf(db)
  const missing: number[] = []
  const found = keys.map((key, i) => {
    const known = key && cache?.get(key.place)
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
      if (key) cache?.set(key.place, { versionKey: key.versionKey, json })
    }
    return found.filter((json) => json !== undefined)
  })
}
