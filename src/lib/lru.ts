/** What was used last, kept up to a weight of all together: what is longest unused goes first. */
export class Lru<V> {
  readonly #most: number
  readonly #weigh: (value: V) => number
  /** In the order of their last use. */
  readonly #kept = new Map<string, V>()
  #weight = 0

  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most
    this.#weigh = weigh
  }

  get(key: string): V | undefined {
    const value = this.#kept.get(key)
    if (value !== undefined && this.#kept.delete(key)) this.#kept.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#drop(key)
    this.#kept.set(key, value)
    this.#weight += this.#weigh(value)
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#most) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const value = this.#kept.get(key)
    if (value === undefined) return
    this.#weight -= this.#weigh(value)
    this.#kept.delete(key)
  }
}
