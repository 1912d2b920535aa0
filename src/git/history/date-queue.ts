/** A priority queue of numbers by date: the latest first, and of equal dates the one that was added first. */
export class DateQueue {
  /** A binary heap of items, with the date and the insertion order of each. */
  readonly #items: number[] = []
  readonly #dates: number[] = []
  readonly #turns: number[] = []
  #turn = 0

  add(item: number, date: number): void {
    let at = this.#items.length
    const turn = this.#turn++
    for (let above = (at - 1) >> 1; at > 0 && date > this.#dates[above]!; above = (at - 1) >> 1) {
      this.#put(at, this.#items[above]!, this.#dates[above]!, this.#turns[above]!)
      at = above
    }
    this.#put(at, item, date, turn)
  }

  take(): number | undefined {
    const first = this.#items[0]
    const [item, date, turn] = [this.#items.pop(), this.#dates.pop(), this.#turns.pop()]
    if (this.#items.length > 0) this.#sink(item!, date!, turn!)
    return first
  }

  #sink(item: number, date: number, turn: number): void {
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#items.length) break
      if (below + 1 < this.#items.length && this.#isEarlier(below, this.#dates[below + 1]!, this.#turns[below + 1]!)) {
        below++
      }
      if (!this.#isEarlier(below, date, turn)) {
        this.#put(at, this.#items[below]!, this.#dates[below]!, this.#turns[below]!)
        at = below
      } else break
    }
    this.#put(at, item, date, turn)
  }

  /** Whether the item at this index comes after one with this date and insertion order. */
  #isEarlier(at: number, date: number, turn: number): boolean {
    const own = this.#dates[at]!
    return own < date || (own === date && this.#turns[at]! > turn)
  }

  #put(at: number, item: number, date: number, turn: number): void {
    this.#items[at] = item
    this.#dates[at] = date
    this.#turns[at] = turn
  }
}
