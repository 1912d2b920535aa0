import { timestamp, today } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal, conflict, forbidden, notFound } from '../../../errors.ts'
import { Master, NoAccess, Owner } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { takeRequest } from '../access-requests/service.ts'
import { refreshAuthorizations } from '../authorizations/service.ts'
import { sourceOf } from '../scopes.ts'
import { assertLevel } from './levels.ts'
import type { SourceColumns } from './model.ts'
import { keepRemoved, membershipOf, takeRemoved, type RemovedMember } from './removals.ts'
import { hasAnotherOwner, isClosed, personalOwnerOf } from './queries.ts'

export type Member = Row<'members'>

export interface Grant {
  access_level: number
  expires_at?: string | null | undefined
}

/** `by` is the user who adds the member; absent if no particular user does. */
export async function addMember(
  app: App,
  at: SourceColumns,
  user: number,
  { access_level, expires_at = null }: Grant,
  by?: number,
): Promise<Member> {
  assertLevel(at, access_level)
  return transact(app, async (app) => {
    await assertOpen(app, at)
    const now = timestamp(app.clock)
    const member = await app.db
      .insertInto('members')
      .values({
        ...sourceOf(at),
        user_id: user,
        access_level,
        expires_at,
        created_by_id: by ?? null,
        created_at: now,
        updated_at: now,
      })
      .onConflict((c) => c.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!member) throw conflict('Member already exists')
    await joined(app, member, by)
    return member
  })
}

async function joined(app: TransactionApp, member: Member, by?: number): Promise<void> {
  await takeRequest(app, member, member.user_id)
  await spread(app, member)
  await emit(app, 'member.added', memberEvent(member, by))
}

/** Undoes a removal: the member has the same fields as before, and the items that the removal unassigned. */
export async function restoreMember(app: App, removed: RemovedMember, by: number): Promise<Member> {
  const at = sourceOf(removed)
  return transact(app, async (app) => {
    await lockMembers(app, at)
    await assertOpen(app, at)
    const membership = membershipOf(await takeRemoved(app, removed.id))
    const member = await app.db
      .insertInto('members')
      .values({ ...membership, updated_at: timestamp(app.clock) })
      .onConflict((c) => c.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!member) throw conflict('Member already exists')
    await joined(app, member, by)
    await emit(app, 'member.restored', { removal: removed.id, user_id: member.user_id })
    return member
  })
}

/** The creator becomes a member from the start, and no mail is sent. Returns false if they were a member already. */
export async function addFounder(
  app: App,
  at: SourceColumns,
  user: number,
  { access_level, since }: { access_level: number; since: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await app.db
    .insertInto('members')
    .values({
      ...sourceOf(at),
      user_id: user,
      access_level,
      expires_at: null,
      created_by_id: user,
      created_at: since,
      updated_at: since,
    })
    .onConflict((c) => c.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Of a concurrent approval and withdrawal, only one finds the request. */
export async function approveRequest(
  app: App,
  at: SourceColumns,
  user: number,
  grant: Grant,
  by: number,
): Promise<Member> {
  return transact(app, async (app) => {
    if (!(await takeRequest(app, at, user))) throw notFound()
    return addMember(app, at, user, grant, by)
  })
}

/** Absent fields stay unchanged; `expires_at: null` removes the expiry date. */
export async function updateMember(
  app: App,
  { id, ...at }: Member,
  input: Partial<Grant>,
  by: number,
): Promise<Member> {
  if (input.access_level !== undefined) assertLevel(at, input.access_level)
  return transact(app, async (app) => {
    const member = await lockMember(app, id, at)
    const { access_level = member.access_level, expires_at = member.expires_at } = input
    await assertMayLose(app, member, { access_level, expires_at })
    if (access_level === member.access_level && expires_at === member.expires_at) return member

    const updated = await app.db
      .updateTable('members')
      // The new level replaces the one that a person granted before a directory link raised it.
      .set({ access_level, expires_at, hand_level: null, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await spread(app, updated)
    await emit(app, 'member.changed', memberEvent(updated, by))
    return updated
  })
}

type Found = Pick<Member, 'id' | 'group_id' | 'project_id'>

export async function removeMember(app: App, { id, ...at }: Found, by: number): Promise<void> {
  await transact(app, async (app) => remove(app, await lockMember(app, id, at), { by }))
}

/** Returns false if the membership was extended or removed in the meantime, or if it is the last owner's. */
export async function expireMember(app: App, { id, ...at }: Found): Promise<boolean> {
  try {
    return await transact(app, async (app) => {
      const member = await lockMember(app, id, at)
      if (member.expires_at === null || member.expires_at > today(app.clock)) return false
      await remove(app, member, { expired: true })
      return true
    })
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

async function remove(
  app: TransactionApp,
  member: Member,
  { by, expired = false }: { by?: number; expired?: boolean },
) {
  await assertMayLose(app, member, { access_level: NoAccess, expires_at: null })
  await app.db.deleteFrom('members').where('id', '=', member.id).execute()
  await spread(app, member)
  // Users who leave request access again.
  const removal = by === undefined || by === member.user_id ? null : await keepRemoved(app, member, by)
  await emit(app, 'member.removed', { ...memberEvent(member, by), expired, ...(removal !== null && { removal }) })
}

/** Some groups do not allow direct members in the projects below them. */
export async function assertOpen(app: App, { project_id }: SourceColumns): Promise<void> {
  if (project_id !== null && (await isClosed(app.db, project_id))) throw forbidden()
}

/**
 * Until the transaction ends, no other transaction changes or removes a member of this group or project. This prevents
 * two owners from removing themselves concurrently and leaving no owner.
 */
export function lockMembers({ db }: TransactionApp, { group_id, project_id }: SourceColumns): Promise<void> {
  return lockName(db, group_id !== null ? `members of group ${group_id}` : `members of project ${project_id}`)
}

/** The current row. */
async function lockMember(app: TransactionApp, id: number, at: SourceColumns): Promise<Member> {
  await lockMembers(app, at)
  const member = await app.db.selectFrom('members').selectAll().where('id', '=', id).executeTakeFirst()
  if (!member) throw notFound() // deleted in the meantime
  return member
}

/** A group keeps at least one owner, and a personal project keeps its owner. */
async function assertMayLose(app: App, member: Member, left: Required<Grant>): Promise<void> {
  const { group_id, project_id, user_id, access_level } = member
  if (group_id !== null && access_level === Owner && left.access_level !== Owner) {
    if (!(await hasAnotherOwner(app.db, member))) throw forbidden()
  }
  if (project_id !== null && (left.access_level < Master || left.expires_at !== null)) {
    if ((await personalOwnerOf(app.db, project_id)) === user_id) throw forbidden()
  }
}

/** Refreshes the authorizations on everything the membership reaches. */
async function spread(app: TransactionApp, { user_id, group_id, project_id }: Member): Promise<void> {
  const where = group_id !== null ? { group: group_id } : { project: project_id! }
  await refreshAuthorizations(app, { users: [user_id], ...where })
}

export const memberEvent = (member: Member, by?: number) => ({
  group_id: member.group_id,
  project_id: member.project_id,
  user_id: member.user_id,
  access_level: member.access_level,
  expires_at: member.expires_at,
  created_at: member.created_at,
  updated_at: member.updated_at,
  ...(by !== undefined && { by }),
})
