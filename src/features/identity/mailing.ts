/** Mail that somebody causes is counted, by who causes it and by who gets it: a forge is no means to flood a mailbox. */
import { HOUR } from '../../clock.ts'
import type { App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { countWithin } from './sessions/throttle.ts'

/** Enough to invite a team. */
const MOST_BY_ONE = 100
const MOST_TO_ONE = 10

interface Cause {
  /** Each has a count of its own, or one could be used up to hold back another. */
  readonly kind: 'invitation' | 'confirmation' | 'password' | 'membership' | 'access request'
  /** Whose doing it is, where that is limited too. */
  readonly by?: number
  readonly to: string
}

/** Counts the mail, and says whether it may go out. */
export async function mayMail(app: App, { kind, by, to }: Cause): Promise<boolean> {
  if (by !== undefined && (await countWithin(app, `mail by ${by}`, HOUR)) > MOST_BY_ONE) return false
  return (await countWithin(app, `mail ${kind} to ${to}`, HOUR)) <= MOST_TO_ONE
}

/** In the transaction of what causes the mail, which is refused with it. */
export async function assertMayMail(app: App, cause: Cause): Promise<void> {
  if (await mayMail(app, cause)) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(HOUR / 1000) } })
}
