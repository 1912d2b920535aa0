/**
 * The state of an account: blocking, deactivating, deleting, and the ghost user who takes over records of deleted
 * users.
 */
import { DAY, after, timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, forbidden, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { endSessionsOf } from '../sessions/ending.ts'
import { removeTokensOf } from '../tokens/service.ts'
import { mailRejection } from './approval-mails.ts'
import { isPending, type UserState } from './model.ts'
import { findUser } from './queries.ts'
import { assertNotLastAdministrator, createUser } from './service.ts'

/** Returns false if nothing changed. */
export async function blockUser(app: App, actor: User, user: User): Promise<boolean> {
  if (user.state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be modified by the API')
  if (user.id === actor.id || user.ghost) throw forbidden()
  if (user.state === 'banned') return false
  return changeState(app, user, 'blocked', 'user.blocked')
}

export async function unblockUser(app: App, user: User): Promise<boolean> {
  if (user.state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be unblocked by the API')
  if (user.state === 'deactivated') throw forbidden('Deactivated users cannot be unblocked by the API')
  if (user.state !== 'blocked') return false
  return changeState(app, user, 'active', 'user.unblocked')
}

const DORMANT_DAYS = 90

/** Only users who were inactive for long. Returns true even if the user was already deactivated. */
export async function deactivateUser(app: App, actor: User, user: User): Promise<true> {
  const { state, ghost, last_activity_on: last } = user
  if (ghost) throw forbidden('Internal users cannot be deactivated')
  if (user.id === actor.id) throw forbidden()
  if (state !== 'active' && state !== 'deactivated') {
    throw forbidden('A blocked user cannot be deactivated by the API')
  }
  if (last !== null && last > after(app.clock, -DORMANT_DAYS * DAY).slice(0, 10)) {
    throw forbidden(
      `The user you are trying to deactivate has been active in the past ${DORMANT_DAYS} days and cannot be deactivated`,
    )
  }
  await changeState(app, user, 'deactivated', 'user.deactivated')
  return true
}

export async function activateUser(app: App, user: User): Promise<true> {
  const { state } = user
  if (state === 'ldap_blocked') throw forbidden('LDAP blocked users must be unblocked to be activated')
  if (state !== 'active' && state !== 'deactivated') throw forbidden('A blocked user must be unblocked to be activated')
  await wakeUser(app, user)
  return true
}

/**
 * Signing in reactivates a deactivated user. Returns the current row, because the user may be blocked at the same
 * moment.
 */
export async function wakeUser(app: App, user: User): Promise<User> {
  if (user.state !== 'deactivated') return user
  await changeState(app, user, 'active', 'user.activated')
  return (await findUser(app.db, user.id)) ?? user
}

export async function banUser(app: App, actor: User, user: User): Promise<true> {
  if (user.id === actor.id || user.ghost) throw forbidden()
  if (user.state !== 'active') throw new Refusal('forbidden', `You cannot ban ${user.state} users.`)
  await changeState(app, user, 'banned', 'user.banned')
  return true
}

export async function unbanUser(app: App, user: User): Promise<true> {
  if (user.state !== 'banned') throw new Refusal('forbidden', `You cannot unban ${user.state} users.`)
  await changeState(app, user, 'active', 'user.unbanned')
  return true
}

export async function approveUser(app: App, user: User): Promise<void> {
  const isApproved = isPending(user) && (await changeState(app, user, 'active', 'user.approved'))
  if (!isApproved) throw conflict('The user you are trying to approve is not pending approval')
}

/**
 * Deletes the account: nobody relies on any record of it. The mail is addressed directly, because the account is
 * deleted by then.
 */
export async function rejectUser(app: App, actor: User, user: User): Promise<void> {
  await transact(app, async (app) => {
    const claimed = await app.db
      .updateTable('users')
      .set({ updated_at: timestamp(app.clock) })
      .where('id', '=', user.id)
      .where('state', '=', 'blocked_pending_approval') // the user may be approved at the same moment
      .returning('id')
      .executeTakeFirst()
    if (!claimed) throw conflict('User does not have a pending request')
    await deleteUser(app, actor, user, { hard: true })
    await mailRejection(app, user)
  })
}

/** Unblocks a user who is in the directory again. A block by an administrator stays. */
export async function liftDirectoryBlock(app: App, user: User): Promise<User> {
  if (user.state !== 'ldap_blocked') return user
  await changeState(app, user, 'active', 'user.unblocked')
  return { ...user, state: 'active' }
}

/** Blocks a user who is no longer in the directory. A block by an administrator stays as it is. */
export async function blockByDirectory(app: App, user: User): Promise<boolean> {
  if (user.state !== 'active' || user.ghost) return false
  return changeState(app, user, 'ldap_blocked', 'user.blocked')
}

type StateEvent = `user.${'blocked' | 'unblocked' | 'deactivated' | 'activated' | 'banned' | 'unbanned' | 'approved'}`

async function changeState(app: App, user: User, state: UserState, event: StateEvent): Promise<boolean> {
  if (user.state === state) return false
  return transact(app, async (app) => {
    if (state !== 'active' && user.admin) await assertNotLastAdministrator(app, user)
    const changed = await app.db
      .updateTable('users')
      .set({ state, updated_at: timestamp(app.clock) })
      .where('id', '=', user.id)
      .where('state', '=', user.state) // a concurrent change may have had another reason
      .returning('id')
      .executeTakeFirst()
    if (!changed) return false
    if (state !== 'active') await endSessionsOf(app, user)
    await emit(app, event, { id: user.id })
    return true
  })
}

/**
 * Keys, tokens, emails, sessions and the namespace are deleted with the row; records that others rely on move to the
 * ghost.
 */
export async function deleteUser(app: App, actor: User, user: User, input: { hard: boolean }): Promise<void> {
  if (user.id === actor.id || user.ghost) throw forbidden()
  await transact(app, async (app) => {
    if (user.admin) await assertNotLastAdministrator(app, user)
    const successor = input.hard ? null : await ghostUser(app)
    for (const onUserRemoved of app.onUserRemoved) await onUserRemoved(app, user, { successor })
    const { numDeletedRows } = await app.db.deleteFrom('users').where('id', '=', user.id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('User') // deleted in the meantime
    await releaseBlob(app, user.avatar_digest)
    const { id, username, email, name, created_at, updated_at } = user
    await emit(app, 'user.deleted', { id, username, email, name, created_at, updated_at })
  })
}

/** Stands for deleted users; created when the first user is deleted. */
export async function ghostUser(app: TransactionApp): Promise<User> {
  await lockName(app.db, 'ghost') // of concurrent first deletions, one creates the ghost
  const known = await app.db.selectFrom('users').selectAll().where('ghost', '=', true).executeTakeFirst()
  if (known) return known
  for (let suffix = 0; ; suffix++) {
    const username = suffix === 0 ? 'ghost' : `ghost${suffix}`
    const taken = await app.db
      .selectFrom('namespaces')
      .select('id')
      .where('full_path', '=', username)
      .executeTakeFirst()
    if (taken) continue
    const email = `${username}@ghost.invalid`
    const user = await createUser(app, { username, email, name: 'Ghost User', skip_confirmation: true })
    await removeTokensOf(app, user)
    const change = {
      ghost: true,
      projects_limit: 0,
      can_create_group: false,
      bio: 'Holds the work of people who left.',
    }
    return app.db.updateTable('users').set(change).where('id', '=', user.id).returningAll().executeTakeFirstOrThrow()
  }
}
