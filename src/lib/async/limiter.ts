import { networkOf } from '../net/addresses.ts'

/**
 * Limiter for work that takes a process, or keeps one busy as long as a client reads: limits the concurrent work in
 * total and per caller. Other work queues in order, but callers at their own limit are skipped. A caller who would wait
 * too long is told when to retry. Anonymous callers together get at most half of the slots and half of the queue: the
 * rest is reserved for signed-in users.
 */
export interface LimiterLimits {
  readonly perCaller: number
  readonly inAll: number
  readonly waitingPerCaller: number
  readonly waitingInAll: number
  /** Milliseconds. */
  readonly patience: number
}

export class LimiterFull extends Error {
  /** Seconds until a retry makes sense. */
  readonly retryAfter: number
  /** The caller exceeds their own limit; otherwise the total limit is reached. */
  readonly isOwn: boolean

  constructor(retryAfter: number, isOwn: boolean) {
    super('too much at once')
    this.name = 'LimiterFull'
    this.retryAfter = retryAfter
    this.isOwn = isOwn
  }
}

export interface LimitedCaller {
  /** Requests with the same key count together. */
  readonly key: number | string
  readonly isAnonymous: boolean
}

/** A user by id, everybody else by network. */
export const limitedCaller = (userId: number | undefined, address: string): LimitedCaller =>
  userId === undefined ? { key: networkOf(address), isAnonymous: true } : { key: userId, isAnonymous: false }

/** How many of these slots anonymous callers may use together; a single slot is open to all. */
export const anonymousShare = (slots: number): number => Math.max(1, Math.floor(slots / 2))

/** Call it once, when the work is done. */
export type Release = () => void

interface Waiter {
  readonly caller: LimitedCaller
  readonly admit: () => void
}

const LONGEST_WAIT_SECONDS = 60

export class Limiter {
  readonly #limits: LimiterLimits
  readonly #inside = new Map<LimitedCaller['key'], number>()
  readonly #waiting = new Set<Waiter>()
  #total = 0
  #anonymous = 0
  /** The average duration of work in milliseconds; recent work weighs most. */
  #duration = 0

  constructor(limits: LimiterLimits) {
    this.#limits = limits
  }

  /** Callers who disconnect are removed from the queue. */
  async enter(caller: LimitedCaller, gone?: () => AbortSignal): Promise<Release> {
    if (this.#hasCapacity(caller)) return this.#begin(caller)
    const { key, isAnonymous } = caller
    const { perCaller, waitingPerCaller, waitingInAll } = this.#limits
    const waiting = [...this.#waiting]
    const isOwn = (this.#inside.get(key) ?? 0) >= perCaller
    const ahead = waiting.filter((waiter) => waiter.caller.key === key).length
    const anonymous = waiting.filter((waiter) => waiter.caller.isAnonymous).length
    if (ahead >= waitingPerCaller) throw this.#full(true, ahead)
    if (waiting.length >= waitingInAll || (isAnonymous && anonymous >= anonymousShare(waitingInAll)))
      throw this.#full(false, waiting.length)

    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    const waiter: Waiter = { caller, admit: () => resolve(this.#begin(caller)) }
    const give = () => reject(this.#full(isOwn, isOwn ? ahead : waiting.length))
    const timer = setTimeout(give, this.#limits.patience).unref()
    const signal = gone?.()
    signal?.addEventListener('abort', give)
    this.#waiting.add(waiter)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
      this.#waiting.delete(waiter)
    }
  }

  #hasCapacity({ key, isAnonymous }: LimitedCaller): boolean {
    const { inAll, perCaller } = this.#limits
    if (this.#total >= inAll || (isAnonymous && this.#anonymous >= anonymousShare(inAll))) return false
    return (this.#inside.get(key) ?? 0) < perCaller
  }

  #begin(caller: LimitedCaller): Release {
    const { key, isAnonymous } = caller
    this.#total++
    if (isAnonymous) this.#anonymous++
    this.#inside.set(key, (this.#inside.get(key) ?? 0) + 1)
    const startedAt = performance.now()
    return () => this.#end(caller, performance.now() - startedAt)
  }

  #end({ key, isAnonymous }: LimitedCaller, took: number): void {
    this.#total--
    if (isAnonymous) this.#anonymous--
    const left = this.#inside.get(key)! - 1
    if (left > 0) this.#inside.set(key, left)
    else this.#inside.delete(key)
    this.#duration = this.#duration * 0.9 + took * 0.1
    for (const waiter of this.#waiting) {
      if (this.#total >= this.#limits.inAll) return
      if (!this.#hasCapacity(waiter.caller)) continue
      this.#waiting.delete(waiter)
      waiter.admit()
    }
  }

  #full(isOwn: boolean, ahead: number): LimiterFull {
    const atATime = isOwn ? this.#limits.perCaller : this.#limits.inAll
    const seconds = Math.ceil((this.#duration * (ahead + 1)) / atATime / 1000)
    return new LimiterFull(Math.min(LONGEST_WAIT_SECONDS, Math.max(1, seconds)), isOwn)
  }
}

export interface Limiters {
  /** Answers that need git. */
  readonly git: Limiter
  /** Answers that stream from git at the speed of the caller. */
  readonly download: Limiter
  /** Clones, fetches and pushes. */
  readonly transport: Limiter
}

export const newLimiters = (): Limiters => ({
  git: new Limiter({ perCaller: 16, inAll: 64, waitingPerCaller: 500, waitingInAll: 5000, patience: 30_000 }),
  download: new Limiter({ perCaller: 8, inAll: 64, waitingPerCaller: 100, waitingInAll: 1000, patience: 20_000 }),
  // A waiting client is silent, and a client that is silent for a minute is disconnected.
  transport: new Limiter({ perCaller: 16, inAll: 64, waitingPerCaller: 200, waitingInAll: 1000, patience: 50_000 }),
})
