import { networkOf } from '../net/addresses.ts'

/**
 * Work that takes a process, or holds one for as long as somebody reads: so much of it at a time in all, and so much for
 * each caller. Others wait their turn in the order they came, past those whose caller has all of theirs; who would wait
 * for too long is told when to come again. Anonymous callers together take half of the slots at most, and half of the
 * queue: the rest is kept for those who have signed in.
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
  /** Seconds until it is worth another try. */
  readonly retryAfter: number
  /** It is the caller who wants too much; otherwise all together do. */
  readonly isOwn: boolean

  constructor(retryAfter: number, isOwn: boolean) {
    super('too much at once')
    this.name = 'LaneFull'
    this.retryAfter = retryAfter
    this.isOwn = isOwn
  }
}

export interface LimitedCaller {
  /** What counts together. */
  readonly key: number | string
  readonly isAnonymous: boolean
}

/** A person by their id, everybody else by the network they come from. */
export const limitedCaller = (userId: number | undefined, address: string): LimitedCaller =>
  userId === undefined ? { key: networkOf(address), isAnonymous: true } : { key: userId, isAnonymous: false }

/** How many of so many slots anonymous callers may hold together; the only one is anybody's. */
export const anonymousShare = (slots: number): number => Math.max(1, Math.floor(slots / 2))

/** To be called once, when the work is over. */
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
  /** Of one piece of work, in milliseconds; the last ones weigh most. */
  #duration = 0

  constructor(limits: LimiterLimits) {
    this.#limits = limits
  }

  /** Whoever has gone meanwhile is not waited for. */
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
  /** Answers made with the help of git. */
  readonly git: Limiter
  /** Answers that are read from git as fast as the caller takes them. */
  readonly download: Limiter
  /** Clones, fetches and pushes. */
  readonly transport: Limiter
}

export const newLimiters = (): Limiters => ({
  git: new Limiter({ perCaller: 16, inAll: 64, waitingPerCaller: 500, waitingInAll: 5000, patience: 30_000 }),
  download: new Limiter({ perCaller: 8, inAll: 64, waitingPerCaller: 100, waitingInAll: 1000, patience: 20_000 }),
  // Who waits is silent, and whoever is silent for a minute is let go.
  transport: new Limiter({ perCaller: 16, inAll: 64, waitingPerCaller: 200, waitingInAll: 1000, patience: 50_000 }),
})
