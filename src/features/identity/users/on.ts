import { on } from '../../../context.ts'
import { mailConfirmation, mailPasswordReset } from '../sessions/links.ts'
import { mailAdministrators, mailApproval } from './approval-mails.ts'
import { isPending } from './model.ts'
import { findUser } from './queries.ts'

/**
 * A new user without a password gets a link to set one, which also confirms the address. Other users get a link to
 * confirm it.
 */
export const welcome = on('user.created', 'welcome', async (app, { id, reset_password }) => {
  const user = await findUser(app.db, id)
  if (!user || (user.state !== 'active' && !isPending(user))) return
  if (reset_password) await mailPasswordReset(app, user)
  else if (user.confirmed_at === null) await mailConfirmation(app, user)
})

/** Mails a confirmation link for a new primary address that nobody vouched for. */
export const reconfirm = on(
  'user.updated',
  'confirm',
  async (app, { id }) => {
    const user = await findUser(app.db, id)
    if (user?.state === 'active' && user.confirmed_at === null) await mailConfirmation(app, user)
  },
  { when: ({ readdressed = false }) => readdressed },
)

export const askForApproval = on('user.created', 'ask for approval', async (app, { id }) => {
  const user = await findUser(app.db, id)
  if (user && isPending(user)) await mailAdministrators(app, user)
})

export const sendApprovalMail = on('user.approved', 'mail', async (app, { id }) => {
  const user = await findUser(app.db, id)
  if (user?.state === 'active') await mailApproval(app, user)
})
