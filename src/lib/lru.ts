/** What was used last, kept up to a weight of all together: what is longest unused goes first. */
export class Lru<V> {
  readonly #most: number
  readonly #weigh: (value: V, key: string) => number
  /** In the order of their last use. A value may grow: it weighs what it did when it was set. */
  readonly #kept = new Map<string, { readonly value: V; readonly weight: number }>()
  #weight = 0

  constructor(most: number, weigh: (value: V, key: string) => number = () => 1) {
    this.#most = most
    this.#weigh = weigh
  }

  get(key: string): V | undefined {
    const kept = this.#kept.get(key)
    if (kept && this.#kept.delete(key)) this.#kept.set(key, kept)
    return kept?.value
  }

  set(key: string, value: V): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    this.#kept.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#most) break
      this.delete(oldest)
    }
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
}
