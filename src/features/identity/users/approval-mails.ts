/** Mails about accounts that are pending approval. They contain no text from the person who registered. */
import type { App, User } from '../../../context.ts'
import { mailLater, mayMail } from '../mailing.ts'

/** The most recently active administrators: enough for one of them to see the mail. */
const MOST_TOLD = 20

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
    .limit(MOST_TOLD)
    .execute()
  for (const { email: to } of administrators) {
    if (!(await mayMail(app, { kind: 'approval', to }))) continue
    await mailLater(app, {
      to,
      subject: 'Account pending approval',
      text: `Hello,

the account ${username} was created with the email address ${email} and is pending approval. To approve or reject the account, open:

${app.url}/admin/users?show=waiting`,
    })
  }
}

export async function mailApproval(app: App, { username, email }: User): Promise<void> {
  await mailLater(app, {
    to: email,
    subject: 'Account approved',
    text: `Hello,

an administrator approved your account ${username}. To sign in, open:

${app.url}/users/sign_in`,
  })
}

export async function mailRejection(app: App, { username, email }: User): Promise<void> {
  await mailLater(app, {
    to: email,
    subject: 'Account rejected',
    text: `Hello,

an administrator of ${app.url} rejected your account ${username}. The account was deleted.`,
  })
}
