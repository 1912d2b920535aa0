/** Shares work in progress by key: concurrent callers get the same promise. */
export class InFlight<V> {
  readonly #running = new Map<string, Promise<V>>()

  share(key: string, start: () => Promise<V>): Promise<V> {
    let running = this.#running.get(key)
    if (!running) {
      running = start().finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
  }
}
