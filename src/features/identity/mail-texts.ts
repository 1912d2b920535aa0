/** Subjects and texts of the mails about accounts and addresses. No mail contains a name that a visitor can choose freely. */
import type { Mail } from '../../mail/compose.ts'

type MailText = Pick<Mail, 'subject' | 'text'>

export const confirmAccount = (username: string, link: string): MailText => ({
  subject: 'Confirm your email address',
  text: `Hello,

the account ${username} was created with this email address. To confirm your email address, open:

${link}

The link is valid for 7 days.`,
})

/** Names the account, so that a recipient who did not ask for it does not give their address to another user. */
export const confirmAddedEmail = (username: string, link: string): MailText => ({
  subject: 'Confirm your email address',
  text: `Hello,

the account ${username} wants to add this email address. If this is your account, confirm the email address:

${link}

The link is valid for 7 days. If this is not your account, ignore this email.`,
})

export const setPassword = (username: string, link: string): MailText => ({
  subject: 'Set your password',
  text: `Hello,

to set a password for your account ${username}, open:

${link}

The link is valid for 2 days and works once. If you did not request this email, ignore it.`,
})

export const alreadyRegistered = (username: string, url: string): MailText => ({
  subject: 'You already have an account',
  text: `Hello,

someone tried to create an account with this email address, which belongs to the account ${username}. If that was you, sign in:

${url}/users/sign_in

To reset a forgotten password, open: ${url}/users/password/new

If that was not you, ignore this email.`,
})

export const pendingApproval = (username: string, email: string, url: string): MailText => ({
  subject: 'Account pending approval',
  text: `Hello,

the account ${username} was created with the email address ${email} and is pending approval. To approve or reject the account, open:

${url}/admin/users?show=waiting`,
})

export const accountApproved = (username: string, url: string): MailText => ({
  subject: 'Account approved',
  text: `Hello,

an administrator approved your account ${username}. To sign in, open:

${url}/users/sign_in`,
})

export const accountRejected = (username: string, url: string): MailText => ({
  subject: 'Account rejected',
  text: `Hello,

an administrator of ${url} rejected your account ${username}. The account was deleted.`,
})
