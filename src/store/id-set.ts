/** A compact set of ids, eight bytes each, for large sets that seldom change. */
export class IdSet {
  #sorted: Float64Array
  /** Ids whose membership is the opposite of `#sorted`. */
  readonly #flipped = new Set<number>()
  #size: number

  constructor(ids: readonly number[]) {
    this.#sorted = Float64Array.from(ids).sort()
    this.#size = ids.length
  }

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#sorted.byteLength + this.#flipped.size * FLIPPED_BYTES
  }

  has(id: number): boolean {
    return this.#isSorted(id) !== this.#flipped.has(id)
  }

  put(id: number, isIn: boolean): void {
    if (this.has(id) === isIn) return
    this.#size += isIn ? 1 : -1
    if (!this.#flipped.delete(id)) this.#flipped.add(id)
    if (this.#flipped.size > MOST_FLIPPED) this.#resort()
  }

  #isSorted(id: number): boolean {
    let [low, high] = [0, this.#sorted.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#sorted[middle]!
      if (found === id) return true
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return false
  }

  #resort(): void {
    const added = [...this.#flipped].filter((id) => !this.#isSorted(id))
    const stayed = this.#sorted.filter((id) => !this.#flipped.has(id))
    const all = new Float64Array(stayed.length + added.length)
    all.set(stayed)
    all.set(added, stayed.length)
    this.#sorted = all.sort()
    this.#flipped.clear()
  }
}

const FLIPPED_BYTES = 40
const MOST_FLIPPED = 1000
