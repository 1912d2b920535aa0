/** The mailed links that confirm claimed addresses. */
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import type { Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { confirmAddedEmail } from '../mail-texts.ts'
import { createLink } from '../sessions/links.ts'
import { confirmEmail, isOwned } from './service.ts'

export async function mailClaim(app: App, user: User, { email }: Row<'emails'>): Promise<void> {
  const token = await createLink(app, { ...user, email }, 'confirm_email')
  const link = `${app.url}/users/confirmation?confirmation_token=${token}`
  await app.mail.send({ to: email, ...confirmAddedEmail(user.username, link) })
}

export type Claim = Row<'emails'> & { readonly username: string }

/** The claim that a link was mailed for; null if the link was used or has expired, or the claim was deleted. */
export async function claimOfLink(app: App, token: string): Promise<Claim | null> {
  const claim = await app.db
    .selectFrom('mailed_links as link')
    .innerJoin('emails', (join) =>
      join.onRef('emails.user_id', '=', 'link.user_id').onRef('emails.email', '=', 'link.email'),
    )
    .innerJoin('users', 'users.id', 'link.user_id')
    .selectAll('emails')
    .select('users.username')
    .where('link.digest', '=', digestOf(token))
    .where('link.purpose', '=', 'confirm_email')
    .where('link.expires_at', '>', timestamp(app.clock))
    .where('emails.confirmed_at', 'is', null)
    .where('users.state', '=', 'active')
    .executeTakeFirst()
  return claim ?? null
}

/** Returns false if the link is no longer valid, or another user has taken the address in the meantime. */
export async function confirmClaimByLink(app: App, token: string): Promise<boolean> {
  return transact(app, async (app) => {
    const candidate = await claimOfLink(app, token)
    if (!candidate) return false
    await lockName(app.db, `email ${candidate.email}`)
    // Check again inside the transaction: a concurrent request may have used the link.
    const claim = await claimOfLink(app, token)
    if (!claim || (await isOwned(app, claim.email))) return false
    await confirmEmail(app, claim)
    await app.db
      .deleteFrom('mailed_links')
      .where('purpose', '=', 'confirm_email')
      .where('email', '=', claim.email)
      .execute()
    return true
  })
}
