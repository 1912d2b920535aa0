/** Mails about accounts that are pending approval. They contain no text from the person who registered. */
import type { App, User } from '../../../context.ts'
import { accountApproved, accountRejected, pendingApproval } from '../mail-texts.ts'
import { mailLater, mayMail } from '../mailing.ts'

/** The most recently active administrators: enough for one of them to see the mail. */
const MOST_MAILED = 20

/** Administrators who recently got many such mails get no further one. */
export async function mailAdministrators(app: App, { username, email }: User): Promise<void> {
  const administrators = await app.db
    .selectFrom('users')
    .select('email')
    .where('admin', '=', true)
    .where('state', '=', 'active')
    .where('confirmed_at', 'is not', null)
    .orderBy('current_sign_in_at', (order) => order.desc().nullsLast())
    .orderBy('id')
    .limit(MOST_MAILED)
    .execute()
  for (const { email: to } of administrators) {
    if (!(await mayMail(app, { kind: 'approval', to }))) continue
    await mailLater(app, { to, ...pendingApproval(username, email, app.url) })
  }
}

export async function mailApproval(app: App, { username, email }: User): Promise<void> {
  await mailLater(app, { to: email, ...accountApproved(username, app.url) })
}

export async function mailRejection(app: App, { username, email }: User): Promise<void> {
  await mailLater(app, { to: email, ...accountRejected(username, app.url) })
}
