import { DAY, MINUTE, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { revokeCredentials } from '../credentials/service.ts'
import { confirmAccount, setPassword } from '../mail-texts.ts'
import { hashPassword } from '../passwords.ts'
import { removeSecondFactors } from '../second-factor/service.ts'
import type { UserState } from '../users/model.ts'
import { endOldPassword } from './ending.ts'

export type Purpose = Row<'mailed_links'>['purpose']

const VALID_FOR: Record<Purpose, number> = { reset_password: 2 * DAY, confirm: 7 * DAY, confirm_email: 7 * DAY }
/** A user who is pending approval can already confirm the address. */
const OPENS_FOR: Record<Purpose, UserState[]> = {
  reset_password: ['active'],
  confirm: ['active', 'blocked_pending_approval'],
  confirm_email: ['active'],
}
const RESEND_AFTER = 10 * MINUTE

/** Only the digest is stored. The link is bound to the address it was created for. */
export async function createLink(
  app: App,
  user: Pick<User, 'id' | 'email'>,
  purpose: Purpose,
  validFor = VALID_FOR[purpose],
): Promise<string> {
  const token = randomHex()
  await app.db
    .insertInto('mailed_links')
    .values({
      user_id: user.id,
      purpose,
      email: user.email,
      digest: digestOf(token),
      expires_at: after(app.clock, validFor),
      created_at: timestamp(app.clock),
    })
    .execute()
  return token
}

/** For a user who has just shown the correct but expired password. */
export const permitNewPassword = (app: App, user: User): Promise<string> =>
  createLink(app, user, 'reset_password', RESEND_AFTER)

export async function mailConfirmation(app: App, user: User): Promise<void> {
  const token = await createLink(app, user, 'confirm')
  const link = `${app.url}/users/confirmation?confirmation_token=${token}`
  await app.mail.send({ to: user.email, ...confirmAccount(user.username, link) })
}

export async function mailPasswordReset(app: App, user: User): Promise<void> {
  const token = await createLink(app, user, 'reset_password')
  const link = `${app.url}/users/password/edit?reset_password_token=${token}`
  await app.mail.send({ to: user.email, ...setPassword(user.username, link) })
}

/** The user of the link; null if the link was used or has expired, or the user has another address now. */
export async function userOfLink(app: App, purpose: Purpose, token: string): Promise<User | null> {
  const user = await app.db
    .selectFrom('mailed_links')
    .innerJoin('users', 'users.id', 'mailed_links.user_id')
    .selectAll('users')
    .where('mailed_links.digest', '=', digestOf(token))
    .where('mailed_links.purpose', '=', purpose)
    .where('mailed_links.expires_at', '>', timestamp(app.clock))
    .whereRef('mailed_links.email', '=', 'users.email')
    .where('users.state', 'in', OPENS_FOR[purpose])
    .where('users.ghost', '=', false)
    .executeTakeFirst()
  return user ?? null
}

/**
 * Of two concurrent uses, only one finds the row to delete. The user's other links with the same purpose are deleted
 * too.
 */
async function spendLink(app: App, purpose: Purpose, token: string): Promise<User | null> {
  const user = await userOfLink(app, purpose, token)
  if (!user) return null
  const spent = await app.db
    .deleteFrom('mailed_links')
    .where('digest', '=', digestOf(token))
    .returning('id')
    .executeTakeFirst()
  if (!spent) return null
  await app.db.deleteFrom('mailed_links').where('user_id', '=', user.id).where('purpose', '=', purpose).execute()
  return user
}

/** Returns false if the link is no longer valid. */
export async function confirmByLink(app: App, token: string): Promise<boolean> {
  return transact(app, async (app) => {
    const user = await spendLink(app, 'confirm', token)
    if (!user) return false
    const now = timestamp(app.clock)
    await app.db
      .updateTable('users')
      .set({ confirmed_at: user.confirmed_at ?? now, updated_at: now })
      .where('id', '=', user.id)
      .execute()
    await emit(app, 'user.updated', { id: user.id, readdressed: true })
    return true
  })
}

/**
 * Reading the mail proves ownership of the address, so this also confirms it. All sessions end. Returns false if the
 * link is no longer valid.
 */
export async function resetPasswordByLink(app: App, token: string, password: string): Promise<boolean> {
  const password_digest = await hashPassword(password)
  return transact(app, async (app) => {
    const user = await spendLink(app, 'reset_password', token)
    if (!user) return false
    const now = timestamp(app.clock)
    await app.db
      .updateTable('users')
      .set({
        password_digest,
        password_expires_at: null,
        confirmed_at: user.confirmed_at ?? now,
        updated_at: now,
      })
      .where('id', '=', user.id)
      .execute()
    await endOldPassword(app, user)
    if (user.confirmed_at === null && user.confirm_by !== null) await takeOver(app, user)
    await emit(app, 'user.updated', { id: user.id, readdressed: true })
    return true
  })
}

/** The person who registered the account was not proven to own the address: everything they added stops working. */
async function takeOver(app: App, user: User): Promise<void> {
  await removeSecondFactors(app, user)
  await revokeCredentials(app, user, { keys: true })
}
