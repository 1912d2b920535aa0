import { cacheBudget, type CacheBudget, type Entry } from './cache-budget.ts'

/** A cache that shares its limit with all others of the process, unless it is given a limit of its own. */
export class Lru<V> {
  readonly name: string
  readonly #weigh: (value: V, key: string) => number
  readonly #budget: CacheBudget
  readonly #kept = new Map<string, Kept<V>>()

  /** `weigh` returns the approximate size of an entry in bytes. */
  constructor(name: string, weigh: (value: V, key: string) => number, budget: CacheBudget = cacheBudget) {
    this.name = name
    this.#weigh = weigh
    this.#budget = budget
    budget.register(name)
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
    if (weight > this.#budget.limit) return
    const kept = new Kept(this, key, value, weight)
    this.#kept.set(key, kept)
    this.#budget.add(kept)
  }

  delete(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#kept.delete(key)
    this.#budget.remove(kept)
  }

  clear(): void {
    this.deleteAll('')
  }

  /** Deletes all keys with this prefix. */
  deleteAll(prefix: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.delete(key)
  }
}

class Kept<V> implements Entry {
  declare previous: Entry['previous']
  declare next: Entry['next']
  isUsed = false
  readonly cache: Lru<V>
  readonly key: string
  readonly value: V
  /** The weight at the time of `set`, although a value may grow. */
  readonly weight: number

  constructor(cache: Lru<V>, key: string, value: V, weight: number) {
    this.cache = cache
    this.key = key
    this.value = value
    this.weight = weight
  }
}
