/** A priority queue of numbers by date: the latest first, and of equal dates the one that was added first. */
export class DateQueue {
  /** A binary heap of items, with the date and the insertion order of each. */
  readonly #items: number[] = []
  readonly #dates: number[] = []
  readonly #orders: number[] = []
  #order = 0

  add(item: number, date: number): void {
    let at = this.#items.length
    const order = this.#order++
    for (let above = (at - 1) >> 1; at > 0 && date > this.#dates[above]!; above = (at - 1) >> 1) {
      this.#put(at, this.#items[above]!, this.#dates[above]!, this.#orders[above]!)
      at = above
    }
    this.#put(at, item, date, order)
  }

  take(): number | undefined {
    const first = this.#items[0]
    const [item, date, order] = [this.#items.pop(), this.#dates.pop(), this.#orders.pop()]
    if (this.#items.length > 0) this.#sink(item!, date!, order!)
    return first
  }

  #sink(item: number, date: number, order: number): void {
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#items.length) break
      if (below + 1 < this.#items.length && this.#isEarlier(below, this.#dates[below + 1]!, this.#orders[below + 1]!)) {
        below++
      }
      if (!this.#isEarlier(below, date, order)) {
        this.#put(at, this.#items[below]!, this.#dates[below]!, this.#orders[below]!)
        at = below
      } else break
    }
    this.#put(at, item, date, order)
  }

  /** Whether the item at this index comes after one with this date and insertion order. */
  #isEarlier(at: number, date: number, order: number): boolean {
    const own = this.#dates[at]!
    return own < date || (own === date && this.#orders[at]! > order)
  }

  #put(at: number, item: number, date: number, order: number): void {
    this.#items[at] = item
    this.#dates[at] = date
    this.#orders[at] = order
  }
}
