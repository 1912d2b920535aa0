/**
 * Rate limits per caller (a user, or an address without one): a generous configured limit per minute, limits that
 * administrators set for longer periods, and limits for single endpoints. Each process counts only the current period.
 * The limits protect a process from a runaway script; they are no quota.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Clock } from '../clock.ts'
import type { User } from '../context.ts'
import { Refusal } from '../errors.ts'
import { networkOf } from '../lib/net/addresses.ts'
import { andThen, type MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Caller } from './credentials.ts'

/** A number of requests per period in milliseconds. */
export interface Throttle {
  readonly limit: number
  readonly period: number
}

/** Programs use the API, people use pages. */
export type Door = 'api' | 'web'

/**
 * The groups that administrators can set limits for: users of the API and of pages, visitors, and visitors of expensive
 * endpoints.
 */
export type Throttled = `authenticated_${Door}` | 'unauthenticated' | 'unauthenticated_costly'

export type ThrottleOf = (whom: Throttled) => MaybePromise<Throttle | null>

const MINUTE_MS = 60_000

/** Limits of single endpoints by setting, and the period of each. */
const LIMIT_PERIODS = {
  issues_create_limit: MINUTE_MS,
  notes_create_limit: MINUTE_MS,
  project_create_limit: 24 * 60 * MINUTE_MS,
  members_delete_limit: MINUTE_MS,
  projects_api_limit: 10 * MINUTE_MS,
  project_api_limit: MINUTE_MS,
  user_projects_api_limit: MINUTE_MS,
  user_starred_projects_api_limit: MINUTE_MS,
  groups_api_limit: MINUTE_MS,
  group_api_limit: MINUTE_MS,
  group_projects_api_limit: MINUTE_MS,
} as const

export type EndpointLimit = keyof typeof LIMIT_PERIODS

/** Null if there is no limit for this user, or for visitors. */
export type LimitOf = (limit: EndpointLimit, user: User | null) => MaybePromise<number | null>

/** A caller with more addresses than this cannot be stopped by counting them. */
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
    // As text: Node checks numbers for invalid characters in a slower way.
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
  readonly #limitOf: LimitOf
  readonly #everybody = new Counter()
  readonly #counters: Record<Throttled, Counter> = {
    authenticated_api: new Counter(),
    authenticated_web: new Counter(),
    unauthenticated: new Counter(),
    unauthenticated_costly: new Counter(),
  }
  readonly #endpoints = new Map<EndpointLimit, Counter>()

  constructor(perMinute: number, clock: Clock, throttleOf: ThrottleOf = () => null, limitOf: LimitOf = () => null) {
    this.#always = { limit: perMinute, period: MINUTE_MS }
    this.#clock = clock
    this.#throttleOf = throttleOf
    this.#limitOf = limitOf
  }

  /** The headers show the limits that administrators set, if any. */
  admit({ identity, address }: Caller, headers: OutgoingHttpHeaders, door: Door = 'api'): MaybePromise<void> {
    const now = this.#clock.now().getTime()
    const key = identity?.user.id ?? networkOf(address)
    if (this.#always.limit > 0) this.#everybody.admit(key, this.#always, now, headers)
    return this.#count(identity ? `authenticated_${door}` : 'unauthenticated', key, now, headers)
  }

  /**
   * Crawlers that read every page of a site call expensive endpoints whose answers nobody reads. Authenticated callers
   * are not limited here.
   */
  admitCostly({ identity, address }: Caller): MaybePromise<void> {
    if (identity) return
    return this.#count('unauthenticated_costly', networkOf(address), this.#clock.now().getTime(), {})
  }

  /** Counted per user, else per network, and for some endpoints also per subject. Administrators have no limit. */
  admitTo(limit: EndpointLimit, user: User | null, address: string, scope = ''): MaybePromise<void> {
    if (user?.admin) return
    return andThen(this.#limitOf(limit, user), (most) => {
      if (most === null) return
      const counter = this.#endpoints.get(limit) ?? new Counter()
      this.#endpoints.set(limit, counter)
      const key = `${user?.id ?? networkOf(address)} ${scope}`
      counter.admit(key, { limit: most, period: LIMIT_PERIODS[limit] }, this.#clock.now().getTime(), {})
    })
  }

  #count(whom: Throttled, key: number | string, now: number, headers: OutgoingHttpHeaders): MaybePromise<void> {
    return andThen(this.#throttleOf(whom), (throttle) => {
      if (throttle) this.#counters[whom].admit(key, throttle, now, headers)
    })
  }
}
