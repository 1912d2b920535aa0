import type { App, User } from '../../../context.ts'

export async function endSessionsOf({ db }: App, { id }: Pick<User, 'id'>): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', id).execute()
}

/** Links to an old address and sessions of an old password open nothing any more. */
export async function endOldWaysIn(app: App, user: Pick<User, 'id'>): Promise<void> {
  await app.db.deleteFrom('mailed_links').where('user_id', '=', user.id).execute()
  await endSessionsOf(app, user)
}
