/**
 * A cache with a total weight limit. The least recently used entry is evicted, by second chance: a use only marks an
 * entry, and eviction skips marked entries. Moving an entry at each use would cost more than most lookups here.
 */
export class Lru<V> {
  readonly #most: number
  readonly #weigh: (value: V, key: string) => number
  /** Candidates for eviction first. */
  readonly #kept = new Map<string, Entry<V>>()
  #weight = 0

  constructor(most: number, weigh: (value: V, key: string) => number = () => 1) {
    this.#most = most
    this.#weigh = weigh
  }

  get(key: string): V | undefined {
    const kept = this.#kept.get(key)
    if (!kept) return undefined
    kept.isUsed = true
    return kept.value
  }

  /** A value that exceeds the limit alone is not cached. */
  set(key: string, value: V): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    if (weight > this.#most) return
    this.#evictOldest(weight)
    this.#kept.set(key, { value, weight, isUsed: false })
    this.#weight += weight
  }

  delete(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#weight -= kept.weight
    this.#kept.delete(key)
  }

  /** Deletes all keys with this prefix. */
  deleteAll(prefix: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.delete(key)
  }

  #evictOldest(weight: number): void {
    // A skipped entry is appended again without its mark, and will be reached later.
    for (const [key, kept] of this.#kept) {
      if (this.#weight + weight <= this.#most) break
      if (kept.isUsed) {
        kept.isUsed = false
        this.#kept.delete(key)
        this.#kept.set(key, kept)
      } else {
        this.delete(key)
      }
    }
  }
}

interface Entry<V> {
  readonly value: V
  /** The weight at the time of `set`, although a value may grow. */
  readonly weight: number
  isUsed: boolean
}
