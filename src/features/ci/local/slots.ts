/** Slots for jobs that run in parallel. Requests are served in order. */
export class Slots {
  readonly #free: number[]
  readonly #waiting: ((slot: number | null) => void)[] = []

  constructor(count: number) {
    this.#free = Array.from({ length: count }, (_, slot) => count - 1 - slot)
  }

  /** Null if the request is aborted before a slot is free. */
  take(signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null)
    const slot = this.#free.pop()
    if (slot !== undefined) return Promise.resolve(slot)
    const { promise, resolve } = Promise.withResolvers<number | null>()
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(serve), 1)
      resolve(null)
    }
    const serve = (freed: number | null) => {
      signal.removeEventListener('abort', giveUp)
      resolve(freed)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    this.#waiting.push(serve)
    return promise
  }

  free(slot: number): void {
    const next = this.#waiting.shift()
    if (next) next(slot)
    else this.#free.push(slot)
  }
}
