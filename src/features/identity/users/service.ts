import type { Upload } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, forbidden, notFound, taken } from '../../../errors.ts'
import { randomToken } from '../../../lib/crypto/secrets.ts'
import { TAKEN } from '../../../lib/text/faults.ts'
import type { NewRow, Row, RowChange } from '../../../store/database.ts'
import { lockName, violates } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import {
  assertOwnsPublicEmail,
  dropClaims,
  exchangeEmail,
  hideLostEmail,
  isConfirmedSecondary,
} from '../emails/service.ts'
import { createUserNamespace, renameUserNamespace } from '../namespaces/service.ts'
import { revokeCredentials } from '../credentials/service.ts'
import { hashPassword } from '../passwords.ts'
import { endOldPassword, endOldWaysIn } from '../sessions/ending.ts'
import { createPrivateToken } from '../tokens/service.ts'
import { NO_AVATAR, keepAvatar, storeAvatar } from './avatar.ts'
import { assertValidUser, withoutMarkup, type UserAttributes } from './validation.ts'

export interface NewUser extends UserAttributes {
  email: string
  username: string
  name: string
  reset_password?: boolean | null
  skip_confirmation?: boolean | null
  admin?: boolean | null
  external?: boolean | null
  can_create_group?: boolean | null
  avatar?: Upload
  /** Given when the instance is set up; random for every other user. */
  private_token?: string
  /** For users who register themselves. */
  state?: 'active' | 'blocked_pending_approval'
  confirm_by?: string
  accepted_terms?: string | null
}

export async function createUser(app: App, input: NewUser): Promise<User> {
  const settings = await currentSettings(app)
  const email = input.email.trim().toLowerCase()
  const password = input.reset_password ? randomToken(40) : input.password
  assertValidUser({ ...input, email, password })
  const avatar = input.avatar ? await storeAvatar(app, input.avatar) : NO_AVATAR
  const external = input.external ?? settings.user_default_external
  const now = timestamp(app.clock)
  const row: NewRow<'users'> = {
    username: input.username,
    name: input.name,
    email,
    state: input.state ?? 'active',
    admin: input.admin ?? false,
    external,
    ghost: false,
    bio: input.bio ?? null,
    location: input.location ?? null,
    organization: input.organization ?? null,
    job_title: input.job_title ?? '',
    pronouns: input.pronouns ?? null,
    public_email: input.public_email?.toLowerCase() || null,
    note: input.note ?? null,
    messenger: withoutMarkup(input.messenger ?? ''),
    professional_network: withoutMarkup(input.professional_network ?? ''),
    microblog: withoutMarkup(input.microblog ?? ''),
    website_url: input.website_url ?? '',
    ...avatar,
    ...(external ? EXTERNAL_LIMITS : limitsOf(settings)),
    ...(!external && given({ projects_limit: input.projects_limit, can_create_group: input.can_create_group })),
    shared_runners_minutes_limit: input.shared_runners_minutes_limit ?? null,
    theme_id: 1,
    color_scheme_id: 1,
    two_factor_enabled: false,
    password_digest: password ? await hashPassword(password) : null,
    password_expires_at: null,
    confirmed_at: input.skip_confirmation ? now : null,
    confirm_by: input.confirm_by ?? null,
    accepted_terms: input.accepted_terms ?? null,
    last_sign_in_at: null,
    current_sign_in_at: null,
    last_activity_on: null,
    created_at: now,
    updated_at: now,
  }
  return refusingDuplicates(() =>
    transact(app, async (app) => {
      await assertFree(app, { email, username: input.username })
      const user = await app.db.insertInto('users').values(row).returningAll().executeTakeFirstOrThrow()
      await assertOwnsPublicEmail(app, user)
      await createUserNamespace(app, user)
      await createPrivateToken(app, user, input.private_token)
      await setIdentity(app, user, input)
      await emit(app, 'user.created', { id: user.id, reset_password: input.reset_password ?? false })
      return user
    }),
  ).then(keepAvatar(app, input.avatar))
}

export interface UserChange extends UserAttributes {
  admin?: boolean | null
  external?: boolean | null
  can_create_group?: boolean | null
  avatar?: Upload
  /** A new primary address counts as confirmed without a mail. */
  skip_reconfirmation?: boolean | null
  /** With a new password: also revokes tokens, which a person who knew the old password may have created. */
  revoke_tokens?: boolean | null
}

export async function updateUser(app: App, actor: User, user: User, input: UserChange): Promise<User> {
  const email = input.email?.trim().toLowerCase()
  assertValidUser({ ...input, ...(email !== undefined && { email }) })
  const change: RowChange<'users'> = {
    ...given({
      email,
      username: input.username,
      name: input.name,
      messenger: input.messenger && withoutMarkup(input.messenger),
      professional_network: input.professional_network && withoutMarkup(input.professional_network),
      microblog: input.microblog && withoutMarkup(input.microblog),
      website_url: input.website_url,
      job_title: input.job_title,
      admin: input.admin,
      projects_limit: input.projects_limit,
      can_create_group: input.can_create_group,
    }),
    ...nullable({
      bio: input.bio,
      location: input.location,
      organization: input.organization,
      pronouns: input.pronouns,
      note: input.note,
      public_email: input.public_email?.toLowerCase() || (input.public_email === undefined ? undefined : null),
      shared_runners_minutes_limit: input.shared_runners_minutes_limit,
    }),
    ...(await externality(app, user, input)),
    ...(input.avatar && (await storeAvatar(app, input.avatar))),
    // A user whose password was set by another user must choose a new one at the next sign-in.
    ...(input.password && {
      password_digest: await hashPassword(input.password),
      password_expires_at: user.id === actor.id ? null : timestamp(app.clock),
    }),
    updated_at: timestamp(app.clock),
  }
  return refusingDuplicates(
    () =>
      transact(app, async (app) => {
        if (input.admin === false && user.admin) await assertNotLastAdministrator(app, user)
        const moves = email !== undefined && email !== user.email
        const proven = moves ? await exchangeEmail(app, user, email) : null
        const vouched = input.skip_reconfirmation ? timestamp(app.clock) : null
        await assertFree(app, { email: change.email, username: change.username }, user)
        const updated = await app.db
          .updateTable('users')
          .set({ ...change, ...(moves && { confirmed_at: proven ?? vouched, confirm_by: null }) })
          .where('id', '=', user.id)
          .returningAll()
          .executeTakeFirst()
        if (!updated) throw notFound('User') // deleted in the meantime
        if (input.public_email) await assertOwnsPublicEmail(app, updated)
        else if (moves) await hideLostEmail(app, updated)
        if (updated.username !== user.username) await renameUserNamespace(app, updated)
        if (input.password) await endOldPassword(app, updated)
        else if (updated.email !== user.email) await endOldWaysIn(app, updated)
        if (input.password && input.revoke_tokens) await revokeCredentials(app, updated, { keys: false })
        await setIdentity(app, updated, input)
        if (updated.avatar_digest !== user.avatar_digest) await releaseBlob(app, user.avatar_digest)
        await emit(app, 'user.updated', {
          id: user.id,
          ...(updated.username !== user.username && { old_username: user.username }),
          ...(updated.email !== user.email && { readdressed: true }),
        })
        return updated
      }),
    // The contract answers a conflict on update with 404.
    'not_found',
  ).then(keepAvatar(app, input.avatar))
}

/** A user who could sign in only by this identity has no other way to sign in until they are given one. */
export async function removeIdentity(app: App, { id }: User, identity: Row<'identities'>): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('identities').where('id', '=', identity.id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Identity') // deleted in the meantime
    await emit(app, 'user.updated', { id })
  })
}

/**
 * Call it in the transaction that removes the administrator right: of two administrators who remove each other, the
 * second is rejected.
 */
export async function assertNotLastAdministrator(app: TransactionApp, user: User): Promise<void> {
  await lockName(app.db, 'administrators')
  const another = await app.db
    .selectFrom('users')
    .select('id')
    .where('admin', '=', true)
    .where('state', '=', 'active')
    .where('id', '!=', user.id)
    .limit(1)
    .executeTakeFirst()
  if (!another) throw forbidden()
}

export const EMAIL_TAKEN = `Email ${TAKEN}`
const USERNAME_TAKEN = `Username ${TAKEN}`

/** Reports which value is taken, in the words that clients know. Locks and unique indexes settle races. */
async function assertFree(
  app: TransactionApp,
  input: { email?: string; username?: string },
  except?: User,
): Promise<void> {
  const { email, username } = input
  if (email !== undefined && email !== except?.email) {
    await lockName(app.db, `email ${email}`)
    const user = await app.db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
    if (user) throw conflict(EMAIL_TAKEN)
    if (await isConfirmedSecondary(app, email)) throw taken('email')
    await dropClaims(app, email)
  }
  if (username !== undefined && username.toLowerCase() !== except?.username.toLowerCase()) {
    const namespace = await app.db
      .selectFrom('namespaces')
      .select('id')
      .where((eb) => eb(eb.fn<string>('lower', ['full_path']), '=', username.toLowerCase()))
      .executeTakeFirst()
    if (namespace) throw conflict(USERNAME_TAKEN)
  }
}

async function refusingDuplicates<T>(work: () => Promise<T>, kind: 'conflict' | 'not_found' = 'conflict'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'conflict') throw new Refusal(kind, error.reason)
    if (violates(error, 'users', 'email')) throw new Refusal(kind, EMAIL_TAKEN)
    if (violates(error, 'users', 'username') || violates(error, 'namespaces', 'full_path')) {
      throw new Refusal(kind, USERNAME_TAKEN)
    }
    const isLinked = violates(error, 'identities', 'provider', 'extern_uid')
    if (isLinked || violates(error, 'identities', 'user_id', 'provider')) throw taken('extern_uid')
    throw error
  }
}

export async function setIdentity(
  app: App,
  user: User,
  { provider, extern_uid }: { provider?: string | null; extern_uid?: string | null },
): Promise<void> {
  if (!provider || !extern_uid) return
  await app.db
    .insertInto('identities')
    .values({ user_id: user.id, provider, extern_uid })
    .onConflict((c) => c.columns(['user_id', 'provider']).doUpdateSet({ extern_uid }))
    .execute()
}

const EXTERNAL_LIMITS = { projects_limit: 0, can_create_group: false }

const limitsOf = ({ default_projects_limit, can_create_group }: Settings) => ({
  projects_limit: default_projects_limit,
  can_create_group,
})

/**
 * Becoming external removes the right to create projects and groups. Becoming internal again restores the defaults of
 * the instance.
 */
async function externality(app: App, user: User, input: UserChange): Promise<RowChange<'users'>> {
  const { external } = input
  if (external === undefined || external === null) return {}
  if (external) return { external, ...EXTERNAL_LIMITS }
  if (!user.external) return {}
  const usual = limitsOf(await currentSettings(app))
  return {
    external,
    projects_limit: input.projects_limit ?? usual.projects_limit,
    can_create_group: input.can_create_group ?? usual.can_create_group,
  }
}

type Defined<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** Keys with a value; null and undefined leave the stored value unchanged. */
function given<T extends Record<string, unknown>>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined && v !== null)) as Defined<T>
}

/** Keys that are present, null included: these columns can be cleared. */
function nullable<T extends Record<string, unknown>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined)) as Partial<T>
}
