import { on, type App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import { levelName } from '../members/levels.ts'
import { nameSource } from '../members/queries.ts'
import { invitationsOf, loadInvitations } from './queries.ts'
import { acceptInvitation } from './service.ts'

export const mailInvitation = on('invitation.made', 'mail', async (app, { id }) => {
  const row = await app.db.selectFrom('invitations').selectAll().where('id', '=', id).executeTakeFirst()
  const source = row && (await nameSource(app, row))
  if (!row || !source) return
  const [invitation] = await loadInvitations(app, [row])
  const { email, token, access_level, creator } = invitation!
  await app.mail.send({
    to: email,
    subject: `Invitation to ${source.name}`,
    text: `Hello,

${creator?.name ?? 'Somebody'} invites you to the ${source.kind} ${source.name} as ${levelName(access_level)}. To accept, open:

${app.url}/-/invites/${token}

The link is valid for 90 days and works once. If you do not know what this is about, nothing needs to be done.`,
  })
})

/** Whoever shows that an invited address is theirs is let in wherever it was invited to. */
async function welcome(app: App, { id }: { id: number }): Promise<void> {
  const user = await findUser(app.db, id)
  if (!user) return
  for (const invitation of await invitationsOf(app, user)) {
    try {
      await acceptInvitation(app, invitation, user)
    } catch (error) {
      // A group that was locked meanwhile may open again: the invitation waits.
      if (!(error instanceof Refusal)) throw error
    }
  }
}

export const welcomeCreated = on('user.created', 'accept invitations', welcome)
export const welcomeApproved = on('user.approved', 'accept invitations', welcome)
/** Addresses are confirmed, and changed, after the account was made. */
export const welcomeUpdated = on('user.updated', 'accept invitations', welcome, {
  when: ({ readdressed = false }) => readdressed,
})
