import { DAY, after, timestamp } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { forgetEvents } from '../../../store/outbox.ts'
import { purgeOAuth } from '../oauth/tokens.ts'
import { mayMail } from '../mailing.ts'
import { directoryIdentities } from '../users/identities.ts'
import { mailPasswordReset } from './links.ts'

const EVENTS_KEPT = 7 * DAY

/**
 * Queued for any address that is typed in, known or not, so that the answer does not reveal whether the account exists.
 * Mail goes only to the exact primary address of an account, as it is stored.
 */
export const answerPasswordReset = job('sessions.answer_password_wish', async (app, { email }: { email: string }) => {
  const user = await app.db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email)
    .where('state', '=', 'active')
    .where('ghost', '=', false)
    .executeTakeFirst()
  // Directory users have only the password of the directory.
  if (!user || (await directoryIdentities(app, user)).length > 0) return
  if (await mayMail(app, { kind: 'password', to: user.email })) await mailPasswordReset(app, user)
})

/** Deletes expired sessions, links and counts. */
export const purge = job(
  'sessions.purge',
  async (app) => {
    const { db } = app
    const now = timestamp(app.clock)
    await db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
    await db.deleteFrom('mailed_links').where('expires_at', '<=', now).execute()
    await db.deleteFrom('throttles').where('until', '<=', now).execute()
    await purgeOAuth(app)
    await forgetEvents(app, after(app.clock, -EVENTS_KEPT))
  },
  { every: DAY },
)
