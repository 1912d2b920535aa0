/** Between the password and the second factor: a ticket in the browser proves that the password was correct. */
import { MINUTE } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { isSecondFactor } from '../second-factor/service.ts'
import { findUser } from '../users/queries.ts'
import { completeSignIn } from './service.ts'

const PATIENCE = 5 * MINUTE
/** Tells tickets from other encrypted values. */
const PURPOSE = 'second step '

interface Ticket {
  readonly user: number
  readonly until: number
  /** A password change makes the ticket invalid. */
  readonly password: string | null
}

export const secondStepTicket = ({ vault, clock }: App, user: User): string =>
  vault.seal(
    PURPOSE +
      JSON.stringify({
        user: user.id,
        until: clock.now().getTime() + PATIENCE,
        password: user.password_digest,
      } satisfies Ticket),
  )

/** The user whose password was correct; null if the password must be entered again. */
export async function openSecondStep(app: App, ticket: string): Promise<User | null> {
  const text = app.vault.canOpen(ticket) ? app.vault.open(ticket) : ''
  if (!text.startsWith(PURPOSE)) return null
  const { user: id, until, password } = JSON.parse(text.slice(PURPOSE.length)) as Ticket
  const user = await findUser(app.db, id)
  if (!user || until <= app.clock.now().getTime() || user.password_digest !== password) return null
  return user.two_factor_enabled ? user : null
}

/** Null if the password must be entered again, false if only the code was wrong. */
export async function takeSecondStep(
  app: App,
  ticket: string,
  { code, address }: { code: string; address: string },
): Promise<User | false | null> {
  const user = await openSecondStep(app, ticket)
  return user && ((await isSecondFactor(app, user, code, address)) ? completeSignIn(app, user, address) : false)
}
