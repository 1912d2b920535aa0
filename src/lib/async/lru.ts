/**
 * What was used last, kept up to a weight of all together. What is longest unused goes first, by second chance: a use
 * only marks an entry, and whoever makes room passes by those that are marked. To move an entry with each use cost
 * more than most of what is looked up here.
 */
export class Lru<V> {
  readonly #most: number
  readonly #weigh: (value: V, key: string) => number
  /** Those looked at next for room first. */
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

  /** What is too heavy by itself is not kept. */
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

  /** All whose keys begin so. */
  deleteAll(prefix: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.delete(key)
  }

  #evictOldest(weight: number): void {
    // Whatever is put back is met again, without its mark.
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
  /** A value may grow: it weighs what it did when it was set. */
  readonly weight: number
  isUsed: boolean
}
