/**
 * How many requests a caller, a user or an address without one, may send: a generous number a minute, by configuration,
 * and what administrators set for longer. The counts are kept by each process for the current span only; they protect
 * a process from a runaway script, they are no quota.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { networkOf } from '../lib/addresses.ts'
import { andThen, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Caller } from './credentials.ts'

/** So many requests in so many milliseconds. */
export interface Throttle {
  readonly limit: number
  readonly period: number
}

/** Programs ask the API, people pages. */
export type Door = 'api' | 'web'

/** Whom administrators set a throttle for: users at each door, visitors, and visitors who ask for what is much work. */
export type Throttled = `authenticated_${Door}` | 'unauthenticated' | 'unauthenticated_costly'

export type ThrottleOf = (whom: Throttled) => MaybePromise<Throttle | null>

const MINUTE_MS = 60_000
/** Whoever comes from more addresses than this is not stopped by counting them. */
const MOST_KEYS = 100_000

class Counter {
  #span = ''
  #counts = new Map<number | string, number>()

  admit(key: number | string, { limit, period }: Throttle, now: number, headers: OutgoingHttpHeaders): void {
    const number = Math.floor(now / period)
    const span = `${number} of ${period}`
    if (span !== this.#span || this.#counts.size > MOST_KEYS) this.#counts = new Map()
    this.#span = span
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)

    const reset = Math.ceil(((number + 1) * period) / 1000)
    // As text: Node looks numbers through for bad characters a slower way.
    headers['RateLimit-Limit'] = String(limit)
    headers['RateLimit-Observed'] = String(count)
    headers['RateLimit-Remaining'] = String(Math.max(0, limit - count))
    headers['RateLimit-Reset'] = String(reset)
    if (count <= limit) return
    const wait = Math.max(1, Math.ceil(reset - now / 1000))
    throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(wait) } })
  }
}

export class RateLimiter {
  readonly #always: Throttle
  readonly #clock: Clock
  readonly #throttleOf: ThrottleOf
  readonly #everybody = new Counter()
  readonly #counters: Record<Throttled, Counter> = {
    authenticated_api: new Counter(),
    authenticated_web: new Counter(),
    unauthenticated: new Counter(),
    unauthenticated_costly: new Counter(),
  }

  constructor(perMinute: number, clock: Clock, throttleOf: ThrottleOf = () => null) {
    this.#always = { limit: perMinute, period: MINUTE_MS }
    this.#clock = clock
    this.#throttleOf = throttleOf
  }

  /** The headers tell of what administrators set, where they did. */
  admit({ identity, address }: Caller, headers: OutgoingHttpHeaders, door: Door = 'api'): MaybePromise<void> {
    const now = this.#clock.now().getTime()
    const key = identity?.user.id ?? networkOf(address)
    if (this.#always.limit > 0) this.#everybody.admit(key, this.#always, now, headers)
    return this.#count(identity ? `authenticated_${door}` : 'unauthenticated', key, now, headers)
  }

  /** Programs that read every page of a site ask for what is much work and nobody looks at. Who is known may. */
  admitCostly({ identity, address }: Caller): MaybePromise<void> {
    if (identity) return
    return this.#count('unauthenticated_costly', networkOf(address), this.#clock.now().getTime(), {})
  }

  #count(whom: Throttled, key: number | string, now: number, headers: OutgoingHttpHeaders): MaybePromise<void> {
    return andThen(this.#throttleOf(whom), (throttle) => {
      if (throttle) this.#counters[whom].admit(key, throttle, now, headers)
    })
  }
}
