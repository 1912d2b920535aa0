import type { App, TransactionApp, User } from '../../../context.ts'
import { lockName } from '../../../store/dialect.ts'
import { revokePasswordGrantsOf } from '../oauth/tokens.ts'

/**
 * Serializes renewing a credential and revoking all credentials of a user. Otherwise a renewed one could escape
 * revocation.
 */
export const lockCredentials = ({ db }: TransactionApp, userId: number) => lockName(db, `credentials ${userId}`)

/** Returns the number of sessions. */
export async function endSessionsOf({ db }: App, { id }: Pick<User, 'id'>): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('user_id', '=', id).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Ends mailed links and sessions; returns the number of sessions. */
export async function endOldWaysIn(app: App, user: Pick<User, 'id'>): Promise<number> {
  await app.db.deleteFrom('mailed_links').where('user_id', '=', user.id).execute()
  return endSessionsOf(app, user)
}

/** Ends what the old password gave access to. Tokens that the user created explicitly stay. */
export async function endOldPassword(app: App, user: Pick<User, 'id'>): Promise<void> {
  await endOldWaysIn(app, user)
  await revokePasswordGrantsOf(app, user)
}
