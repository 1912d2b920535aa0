import type { App, User } from '../../../context.ts'
import { lockName } from '../../../store/dialect.ts'
import { revokePasswordGrantsOf } from '../oauth/tokens.ts'

/** What renews itself and what revokes all of somebody's take turns, or a renewed one could slip through. */
export const lockCredentials = ({ db }: App, userId: number) => lockName(db, `credentials ${userId}`)

/** How many there were. */
export async function endSessionsOf({ db }: App, { id }: Pick<User, 'id'>): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('user_id', '=', id).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Links to an old address and sessions open nothing any more; how many sessions there were. */
export async function endOldWaysIn(app: App, user: Pick<User, 'id'>): Promise<number> {
  await app.db.deleteFrom('mailed_links').where('user_id', '=', user.id).execute()
  return endSessionsOf(app, user)
}

/** What an old password opened. Tokens that somebody made on purpose stay. */
export async function endOldPassword(app: App, user: Pick<User, 'id'>): Promise<void> {
  await endOldWaysIn(app, user)
  await revokePasswordGrantsOf(app, user)
}
