import { on, type App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import * as texts from '../mail-texts.ts'
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
  const link = `${app.url}/-/invites/${token}`
  await app.mail.send({ to: email, ...texts.invitation(creator?.name, source, levelName(access_level), link) })
})

/** Accepts all invitations to an address once a user has confirmed that address. */
async function welcome(app: App, { id }: { id: number }): Promise<void> {
  const user = await findUser(app.db, id)
  if (!user) return
  for (const invitation of await invitationsOf(app, user)) {
    try {
      await acceptInvitation(app, invitation, user)
    } catch (error) {
      // The group is locked at the moment and may be unlocked later: keep the invitation.
      if (!(error instanceof Refusal)) throw error
    }
  }
}

export const welcomeCreated = on('user.created', 'accept invitations', welcome)
export const welcomeApproved = on('user.approved', 'accept invitations', welcome)
/** Users confirm and change addresses after the account is created. */
export const welcomeUpdated = on('user.updated', 'accept invitations', welcome, {
  when: ({ readdressed = false }) => readdressed,
})
