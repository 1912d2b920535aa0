/**
 * Whoever asks the same again with the same credential is given the same answer, without being led there anew: until
 * something is committed, and for a second at most. An identity is another object after every commit (see
 * `Authentication`), so what is kept under one is as new as the store. Only what was presented `once` is kept: with that
 * a handler says that its answer comes from rows.
 */
import { send, type Answered } from './answers.ts'
import type { Identity } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import { isPresentedOnce } from './once.ts'

/** So that settings, which are known for a while only, and whatever else depends on the time are hardly late. */
const KEPT_MS = 1000
const ADDRESSES_KEPT = 100
const LONGEST_ADDRESS = 500

interface Kept {
  readonly answered: Answered
  readonly until: number
}

const kept = new WeakMap<Identity, Map<string, Kept>>()

export function keepAnswer({ request, startedAt }: Exchange, identity: Identity, answered: Answered): void {
  const address = request.url!
  if (request.method !== 'GET' || !isPresentedOnce(answered.body) || address.length > LONGEST_ADDRESS) return
  let mine = kept.get(identity)
  if (!mine || mine.size >= ADDRESSES_KEPT) kept.set(identity, (mine = new Map()))
  mine.set(address, { answered, until: startedAt + KEPT_MS })
}

/** Whether it could be; nothing is kept of what someone is shown in another's place. */
export function answerAgain(exchange: Exchange, identity: Identity): boolean {
  const { request, startedAt } = exchange
  if (request.method !== 'GET' || request.headers.sudo !== undefined) return false
  const known = kept.get(identity)?.get(request.url!)
  if (!known || known.until <= startedAt) return false
  send(exchange, known.answered)
  return true
}
