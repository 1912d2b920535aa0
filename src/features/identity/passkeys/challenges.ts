/**
 * Challenges that a device signs. Between request and answer the browser keeps the challenge encrypted, in a ticket
 * that names its user and purpose. A ticket is valid for a few minutes and can be used once.
 */
import { randomBytes } from 'node:crypto'
import { MINUTE } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import { countWithin } from '../throttling/throttle.ts'

const PATIENCE = 5 * MINUTE
const BYTES = 32

export type Purpose = 'register' | 'second step' | 'sign in'

interface Ticket {
  readonly challenge: string
  /** Null if the device identifies the user. */
  readonly user: number | null
  readonly until: number
}

const prefixOf = (purpose: Purpose) => `passkey ${purpose} `

export const newChallenge = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(BYTES))

export function challengeTicket(
  { vault, clock }: App,
  purpose: Purpose,
  made: Pick<Ticket, 'challenge' | 'user'>,
): string {
  const ticket: Ticket = { ...made, until: clock.now().getTime() + PATIENCE }
  return vault.seal(prefixOf(purpose) + JSON.stringify(ticket))
}

/** The challenge; null if the ticket is expired or used, or was made for another user or purpose. */
export async function takeChallenge(
  app: App,
  purpose: Purpose,
  { ticket, user }: { ticket: string; user: number | null },
): Promise<string | null> {
  const text = app.vault.canOpen(ticket) ? app.vault.open(ticket) : ''
  if (!text.startsWith(prefixOf(purpose))) return null
  const made = JSON.parse(text.slice(prefixOf(purpose).length)) as Ticket
  if (made.until <= app.clock.now().getTime() || made.user !== user) return null
  const uses = await countWithin(app, `challenge ${digestOf(made.challenge)}`, PATIENCE)
  return uses === 1 ? made.challenge : null
}
