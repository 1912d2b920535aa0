/**
 * Concurrency of transactions on a database that runs many at once: a limiter for concurrent transactions, and retries
 * after a conflict.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export const TRIES = 8
const LONGEST_PAUSE_MS = 200

/** Random, so that two conflicting transactions do not conflict again. */
export const pauseAfter = (tries: number): Promise<void> =>
  sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** tries))

/** Transactions beyond the limit wait in order, without using a connection. */
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

/** `adapter` is the object that a database and its transactions share. */
export const limitTransactions = (adapter: object, limiter: TransactionLimiter): void =>
  void limiters.set(adapter, limiter)

export const limiterOf = (adapter: object): TransactionLimiter | undefined => limiters.get(adapter)
