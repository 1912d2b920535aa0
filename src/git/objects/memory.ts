/**
 * Caches immutable data of repositories. An id always stands for the same bytes, and so does everything that is
 * computed from ids only. Keys contain the folder of the repository, because repositories differ in the objects they
 * have. Whether an id from a user still exists is a question for git, not for the cache.
 */
import { cacheBudget, type CacheBudget } from '../../lib/async/cache-budget.ts'
import { InFlight } from '../../lib/async/in-flight.ts'
import { Lru } from '../../lib/async/lru.ts'

/** The approximate size of an entry without its key. */
const ENTRY_BYTES = 150
/** The largest share of all caches for one entry. A larger entry would evict too many others. */
const LARGEST_SHARE = 1 / 8

const kinds: Lru<unknown>[] = []

export class Memory<V> {
  readonly #kept: Lru<V>
  readonly #making = new InFlight<V>()
  readonly #weigh: (value: V, key: string) => number
  readonly #budget: CacheBudget

  /** `weigh` returns the approximate size of a value in bytes. */
  constructor(name: string, weigh: (value: V) => number = () => 0, budget = cacheBudget) {
    this.#weigh = (value, key) => weigh(value) + key.length + ENTRY_BYTES
    this.#budget = budget
    this.#kept = new Lru(name, this.#weigh, budget)
    kinds.push(this.#kept as Lru<unknown>)
  }

  get(dir: string, key: string): V | undefined {
    return this.#kept.get(`${dir}\0${key}`)
  }

  set(dir: string, key: string, value: V): void {
    const whole = `${dir}\0${key}`
    if (this.#weigh(value, whole) <= this.#budget.limit * LARGEST_SHARE) this.#kept.set(whole, value)
    else this.#kept.delete(whole)
  }

  /** Computes the value once for all concurrent callers. They all get a failure, and it is not cached. */
  async recall(
    dir: string,
    key: string,
    make: () => Promise<V>,
    isLasting: (value: V) => boolean = () => true,
  ): Promise<V> {
    const kept = this.get(dir, key)
    if (kept !== undefined) return kept
    return this.#making.share(`${dir}\0${key}`, async () => {
      const made = await make()
      if (isLasting(made)) this.set(dir, key, made)
      return made
    })
  }
}

/** For a repository that is deleted or has lost objects. */
export function forget(dir: string): void {
  for (const kept of kinds) kept.deleteAll(`${dir}\0`)
}
