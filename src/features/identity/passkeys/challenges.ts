/**
 * What a device signs. The browser keeps it between asking and answering, sealed: it holds for whom and for what it was
 * made, for a few minutes, and is taken once.
 */
import { randomBytes } from 'node:crypto'
import { MINUTE } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { countWithin } from '../sessions/throttle.ts'

const PATIENCE = 5 * MINUTE
const BYTES = 32

export type Purpose = 'register' | 'second step' | 'sign in'

interface Ticket {
  readonly challenge: string
  /** Null where the device tells who they are. */
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

/** The challenge; null of a ticket that is old, used, of somebody else or for something else. */
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
