/** Removed members: for an hour, the user who removed a member can undo it. */
import { HOUR, after, timestamp, today } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { findUser } from '../../identity/users/queries.ts'
import type { SourceColumns } from './model.ts'

export type RemovedMember = Row<'removed_members'>

const UNDO_MS = HOUR

/** What comes back with a member. */
export const membershipOf = ({
  group_id,
  project_id,
  user_id,
  access_level,
  expires_at,
  from_directory,
  hand_level,
  created_by_id,
  created_at,
}: Omit<Row<'members'>, 'id' | 'updated_at'>) => ({
  group_id,
  project_id,
  user_id,
  access_level,
  expires_at,
  from_directory,
  hand_level,
  created_by_id,
  created_at,
})

/** Returns the id of the removal. */
export async function keepRemoved(app: TransactionApp, member: Row<'members'>, by: number): Promise<number> {
  const removed_at = timestamp(app.clock)
  const { id } = await app.db
    .insertInto('removed_members')
    .values({ ...membershipOf(member), removed_by_id: by, removed_at, restored_at: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The latest removal of this user, if this actor did it in the last hour and has not undone it. */
export async function findRemoved(
  { db, clock }: App,
  { group_id, project_id }: SourceColumns,
  user: number,
  by: number,
): Promise<RemovedMember | null> {
  const latest = await db
    .selectFrom('removed_members')
    .selectAll()
    .where('user_id', '=', user)
    .where(group_id === null ? 'project_id' : 'group_id', '=', group_id ?? project_id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const isOpen = latest?.removed_by_id === by && latest.restored_at === null
  return isOpen && latest.removed_at > after(clock, -UNDO_MS) ? latest : null
}

/** Of two concurrent requests only one finds the removal. */
export async function takeRemoved(app: TransactionApp, id: number): Promise<RemovedMember> {
  const removed = await app.db
    .updateTable('removed_members')
    .set({ restored_at: timestamp(app.clock) })
    .where('id', '=', id)
    .where('restored_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  const user = removed && (await findUser(app.db, removed.user_id))
  if (!user || user.ghost) throw notFound('User')
  if (user.state !== 'active') throw new Refusal('bad_request', 'The user is not active')
  if (removed.expires_at !== null && removed.expires_at <= today(app.clock)) {
    throw new Refusal('bad_request', 'The membership has expired')
  }
  return removed
}
