import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { isScalar, isWhole, knowsKeys } from './values.ts'

export type Parallel =
  | { readonly total: number }
  /** One job for each combination of each row. */
  | { readonly rows: readonly ReadonlyMap<string, readonly string[]>[]; readonly total: number }

const MOST_JOBS = 200

export function readParallel(value: Value, spot: Spot): Parallel | null {
  if (value === null) return null
  if (isMapping(value)) {
    knowsKeys(spot, value, ['matrix'])
    return readMatrix(value, spot)
  }
  if (!isWhole(value)) return spot.say('should be an integer or a hash') ?? null
  if (value < 1) return spot.config('must be greater than or equal to 1') ?? null
  return value > MOST_JOBS ? (spot.config(`must be less than or equal to ${MOST_JOBS}`) ?? null) : { total: value }
}

function readMatrix(entry: Mapping, spot: Spot): Parallel | null {
  const at = spot.at(entry, 'matrix')
  const matrix = entry['matrix'] ?? null
  const rows = Array.isArray(matrix) ? (matrix.flat(10) as Value[]) : null
  if (!rows || !rows.every(isMapping)) return at.config('should be an array of hashes') ?? null
  const read = rows.map((row) => readRow(row, at))
  if (!read.every((row) => row !== null)) return null
  // Stops one step after the limit, however many combinations there would be.
  let total = 0
  for (const row of read) {
    let product = 1
    for (const values of row.values()) product = Math.min(product * values.length, MOST_JOBS + 1)
    total = Math.min(total + product, MOST_JOBS + 1)
  }
  if (total === 0) return at.config("can't be blank") ?? null
  return total > MOST_JOBS
    ? (at.config(`generates too many jobs (maximum is ${MOST_JOBS})`) ?? null)
    : { rows: read, total }
}

function readRow(row: Mapping, spot: Spot): Map<string, string[]> | null {
  const values = new Map<string, string[]>()
  for (const [key, value] of Object.entries(row)) {
    const list = Array.isArray(value) ? (value.flat(10) as Value[]) : [value]
    if (!list.every(isScalar) || list.length === 0)
      return spot.say('variables config should be a hash of key value pairs, value can be an array') ?? null
    values.set(key, list.map(String))
  }
  return values.size === 0 ? (spot.say('variables config requires at least 1 items') ?? null) : values
}

/** The first variable varies slowest. */
export function* combinations(parallel: Parallel): Generator<ReadonlyMap<string, string>> {
  if (!('rows' in parallel)) return
  for (const row of parallel.rows) {
    const entries = [...row]
    const total = entries.reduce((product, [, values]) => product * values.length, 1)
    for (let n = 0; n < total; n++) {
      let rest = n
      const chosen = entries.toReversed().map(([key, values]) => {
        const value = values[rest % values.length]!
        rest = Math.floor(rest / values.length)
        return [key, value] as const
      })
      yield new Map(chosen.toReversed())
    }
  }
}
