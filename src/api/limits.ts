/**
 * A generous limit of requests a minute for each caller: a user, or an address without one. The count is kept by each
 * process for the current minute only; it protects a process from a runaway script, it is no quota.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { networkOf } from '../lib/addresses.ts'
import type { Caller } from './credentials.ts'

const WINDOW_MS = 60_000

export class RateLimiter {
  readonly #limit: number
  readonly #clock: Clock
  #window = 0
  #counts = new Map<number | string, number>()

  constructor(limit: number, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  admit({ identity, address }: Caller, headers: OutgoingHttpHeaders): void {
    if (this.#limit === 0) return
    const window = Math.floor(this.#clock.now().getTime() / WINDOW_MS)
    if (window !== this.#window) {
      this.#window = window
      this.#counts = new Map()
    }
    const key = identity?.user.id ?? networkOf(address)
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)

    const reset = ((window + 1) * WINDOW_MS) / 1000
    // As text: Node looks numbers through for bad characters a slower way.
    headers['RateLimit-Limit'] = String(this.#limit)
    headers['RateLimit-Observed'] = String(count)
    headers['RateLimit-Remaining'] = String(Math.max(0, this.#limit - count))
    headers['RateLimit-Reset'] = String(reset)
    if (count <= this.#limit) return
    const wait = Math.max(1, Math.ceil(reset - this.#clock.now().getTime() / 1000))
    throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(wait) } })
  }
}
