/**
 * What never changes of a repository, kept in memory: an id stands for the same bytes for ever, and so does all that is
 * worked out from ids alone. Each kind has a bound for all repositories together. Keys hold the repository's folder: what
 * one has, another need not have. Whether an id that a user names is still there is for git to say, not for memory.
 */
import { InFlight } from '../../lib/async/in-flight.ts'
import { Lru } from '../../lib/async/lru.ts'

/** What an entry takes, its key apart, about. */
const ENTRY_BYTES = 150
/** Of all that may be kept: what is larger would drive out too much else. */
const LARGEST_SHARE = 1 / 4

const kinds: Lru<unknown>[] = []

export class Memory<V> {
  readonly #kept: Lru<V>
  readonly #making = new InFlight<V>()
  readonly #weigh: (value: V, key: string) => number
  readonly #largest: number

  /** `weigh` tells about how many bytes a value takes. */
  constructor(mostBytes: number, weigh: (value: V) => number = () => 0) {
    this.#weigh = (value, key) => weigh(value) + key.length + ENTRY_BYTES
    this.#largest = mostBytes * LARGEST_SHARE
    this.#kept = new Lru(mostBytes, this.#weigh)
    kinds.push(this.#kept as Lru<unknown>)
  }

  get(dir: string, key: string): V | undefined {
    return this.#kept.get(`${dir}\0${key}`)
  }

  set(dir: string, key: string, value: V): void {
    const whole = `${dir}\0${key}`
    if (this.#weigh(value, whole) <= this.#largest) this.#kept.set(whole, value)
    else this.#kept.delete(whole)
  }

  /** Made once for all who ask meanwhile; a failure is theirs, and is not kept. */
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

/** Of a repository that is removed, or has lost objects. */
export function forget(dir: string): void {
  for (const kept of kinds) kept.deleteAll(`${dir}\0`)
}
