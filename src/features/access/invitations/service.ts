import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound, taken } from '../../../errors.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { assertMayMail } from '../../identity/mailing.ts'
import { isEmail } from '../../identity/users/validation.ts'
import { assertLevel } from '../members/levels.ts'
import type { SourceColumns } from '../members/model.ts'
import { findMember } from '../members/queries.ts'
import { addMember, assertOpen, type Grant } from '../members/service.ts'
import { sourceOf } from '../scopes.ts'
import { addressOf, findUserByConfirmedEmail, type Invitation } from './queries.ts'

/** Adds the user at once if an account has this confirmed address. Otherwise mails an invitation link. */
export async function invite(app: App, at: SourceColumns, given: string, grant: Grant, by: User): Promise<void> {
  const email = addressOf(given)
  if (!isEmail(email)) throw invalid({ invite_email: ['is invalid'] })
  const known = await findUserByConfirmedEmail(app.db, email)
  if (known) await addMember(app, at, known.id, grant, by.id)
  else await addInvitation(app, at, email, grant, by)
}

async function addInvitation(
  app: App,
  at: SourceColumns,
  email: string,
  { access_level, expires_at = null }: Grant,
  by: User,
): Promise<void> {
  assertLevel(at, access_level)
  const token = randomHex()
  const now = timestamp(app.clock)
  await transact(app, async (app) => {
    await assertOpen(app, at)
    const invitation = await app.db
      .insertInto('invitations')
      .values({
        ...sourceOf(at),
        email,
        access_level,
        expires_at,
        token_digest: digestOf(token),
        token_sealed: app.vault.seal(token),
        created_by_id: by.id,
        created_at: now,
        updated_at: now,
      })
      .onConflict((c) => c.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!invitation) throw taken('invite_email')
    await assertMayMail(app, { kind: 'invitation', by: by.id, to: email })
    await emit(app, 'invitation.made', { id: invitation.id })
  })
}

export async function updateInvitation(app: App, invitation: Invitation, input: Partial<Grant>): Promise<Invitation> {
  const { access_level = invitation.access_level, expires_at = invitation.expires_at } = input
  assertLevel(invitation, access_level)
  const updated = await app.db
    .updateTable('invitations')
    .set({ access_level, expires_at, updated_at: timestamp(app.clock) })
    .where('id', '=', invitation.id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound() // used in the meantime
  return updated
}

export async function withdrawInvitation(app: App, { id }: Invitation): Promise<void> {
  if (!(await takeInvitation(app, id))) throw notFound() // used in the meantime
}

/** Returns false if another request used the invitation first. An existing membership is not changed. */
export async function acceptInvitation(app: App, { id }: Invitation, user: User): Promise<boolean> {
  return transact(app, async (app) => {
    const invitation = await takeInvitation(app, id)
    if (!invitation) return false
    if (await findMember(app.db, invitation, user.id)) return true
    await addMember(app, invitation, user.id, invitation, invitation.created_by_id ?? undefined)
    return true
  })
}

/** Of two concurrent uses, only one finds the row to delete. */
async function takeInvitation(app: App, id: number): Promise<Invitation | undefined> {
  return app.db.deleteFrom('invitations').where('id', '=', id).returningAll().executeTakeFirst()
}
