import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { invalid, notFound, taken } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { assertMayMail } from '../mailing.ts'
import { assertValidUser } from '../users/validation.ts'

export interface NewEmail {
  email: string
  /** Only administrators may skip the confirmation. */
  skip_confirmation?: boolean
  /**
   * Set if an administrator adds the address. Mails by an administrator are not limited; mails to one address still
   * are.
   */
  byAdministrator?: boolean
}

/** The address is a claim until the user follows the mailed link, unless the confirmation is skipped. */
export async function createEmail(app: App, owner: User, input: NewEmail): Promise<Row<'emails'>> {
  const email = input.email.trim().toLowerCase()
  assertValidUser({ email })
  const created = transact(app, async (app) => {
    await lockName(app.db, `email ${email}`)
    if (await isOwned(app, email)) throw taken('email')
    const now = timestamp(app.clock)
    const created = await app.db
      .insertInto('emails')
      .values({ user_id: owner.id, email, confirmed_at: null, created_at: now, updated_at: now })
      .returningAll()
      .executeTakeFirstOrThrow()
    await emit(app, 'email.created', { id: created.id, user_id: owner.id })
    if (input.skip_confirmation) return confirmEmail(app, created)
    const by = input.byAdministrator ? {} : { by: owner.id }
    await assertMayMail(app, { kind: 'confirmation', ...by, to: email })
    return created
  })
  return unlessTaken(created, 'emails', [['email'], ['user_id', 'email']], () => taken('email'))
}

/**
 * Whether the address is a primary or confirmed address of any user. Call it in the transaction that holds the lock on
 * the address.
 */
export async function isOwned({ db }: TransactionApp, email: string): Promise<boolean> {
  const primary = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
  return primary !== undefined || (await isConfirmedSecondary({ db }, email))
}

export async function isConfirmedSecondary({ db }: Pick<App, 'db'>, email: string): Promise<boolean> {
  const owned = await db
    .selectFrom('emails')
    .select('id')
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return owned !== undefined
}

async function ownsPublicEmail({ db }: App, user: User): Promise<boolean> {
  if (user.public_email === null) return true
  if (user.public_email === user.email) return user.confirmed_at !== null
  const owned = await db
    .selectFrom('emails')
    .select('id')
    .where('user_id', '=', user.id)
    .where('email', '=', user.public_email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return owned !== undefined
}

/** The public address must be one of the user's confirmed addresses. Call it in the transaction that sets it. */
export async function assertOwnsPublicEmail(app: TransactionApp, user: User): Promise<void> {
  if (!(await ownsPublicEmail(app, user))) throw invalid({ public_email: ['is not an email you own'] })
}

/** Clears the public address if the user no longer owns it. Call it in the transaction that removed the address. */
export async function hideLostEmail(app: TransactionApp, user: User): Promise<void> {
  if (await ownsPublicEmail(app, user)) return
  await app.db.updateTable('users').set({ public_email: null }).where('id', '=', user.id).execute()
}

/** Deletes the claims of other users. Call it in the transaction that checked that nobody owns the address. */
export async function confirmEmail(app: TransactionApp, { id, email }: Row<'emails'>): Promise<Row<'emails'>> {
  await dropClaims(app, email, { except: id })
  const now = timestamp(app.clock)
  const confirmed = await app.db
    .updateTable('emails')
    .set({ confirmed_at: now, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emit(app, 'email.confirmed', { id, user_id: confirmed.user_id })
  return confirmed
}

/** Claims give no rights, so no event is emitted. */
export async function dropClaims({ db }: App, email: string, { except = 0 } = {}): Promise<void> {
  await db
    .deleteFrom('emails')
    .where('email', '=', email)
    .where('confirmed_at', 'is', null)
    .where('id', '!=', except)
    .execute()
}

export async function deleteEmail(app: App, owner: User, { id, email }: Row<'emails'>): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('emails').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Email') // deleted in the meantime
    await hideLostEmail(app, owner)
    await emit(app, 'email.deleted', { id, user_id: owner.id, email })
  })
}

/**
 * If the new primary address was a secondary address of the user, the two are exchanged. Returns when the new address
 * was confirmed.
 */
export async function exchangeEmail(app: App, user: User, email: string): Promise<string | null> {
  const own = await app.db
    .selectFrom('emails')
    .selectAll()
    .where('user_id', '=', user.id)
    .where('email', '=', email)
    .executeTakeFirst()
  if (!own) return null
  await app.db
    .updateTable('emails')
    .set({ email: user.email, confirmed_at: user.confirmed_at, updated_at: timestamp(app.clock) })
    .where('id', '=', own.id)
    .execute()
  return own.confirmed_at
}
