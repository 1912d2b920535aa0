/**
 * What transactions do about each other on an engine where many run at once: so many at a time, and once more after a
 * conflict.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export const TRIES = 8
const LONGEST_PAUSE_MS = 200

/** Random, so that two that met do not meet again. */
export const pauseAfter = (tries: number): Promise<void> =>
  sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** tries))

/** Those beyond the limit wait in order, without a connection. */
export class TransactionLimiter {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#free = most
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

const limiters = new WeakMap<object, TransactionLimiter>()

/** `adapter` is what a database and its transactions have in common. */
export const limitTransactions = (adapter: object, limiter: TransactionLimiter): void =>
  void limiters.set(adapter, limiter)

export const limiterOf = (adapter: object): TransactionLimiter | undefined => limiters.get(adapter)
