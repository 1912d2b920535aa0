import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { conflict, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { findReadableGroup, isAround } from '../../projects/sharing/queries.ts'
import type { Group } from '../groups/queries.ts'
import type { GroupShare } from './queries.ts'

interface Share {
  group_id: number
  group_access: number
  expires_at?: string | null | undefined
}

/**
 * Gives the members of another group access to this group and everything below it, each at most at the level of the
 * share. A share lock does not prevent this: the lock is for users who administer projects, and an owner of the group
 * could remove it anyway.
 */
export async function shareGroup(
  app: App,
  actor: User,
  { id }: Group,
  { group_id: other, group_access, expires_at = null }: Share,
): Promise<void> {
  if (!(await findReadableGroup(app, actor, other))) throw notFound('Group')
  await transact(app, async (app) => {
    await lockShares(app, id)
    if (await isAround(app.db, other, id)) {
      throw conflict('Group cannot be shared with itself or one of its ancestors.')
    }
    const now = timestamp(app.clock)
    const share = await app.db
      .insertInto('group_shares')
      .values({
        group_id: id,
        shared_with_group_id: other,
        group_access,
        expires_at,
        created_at: now,
        updated_at: now,
      })
      .onConflict((c) => c.columns(['group_id', 'shared_with_group_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!share) throw conflict('The group has already been shared with this group')
    await refreshAuthorizations(app, { group: id })
    await emit(app, 'group.shared', { group_id: id, shared_with_group_id: other, group_access, by: actor.id })
  })
}

/** `by` is absent if the share has expired. Returns false if a concurrent request removed the share first. */
export async function unshareGroup(
  app: App,
  { id, group_id, shared_with_group_id }: Pick<GroupShare, 'id' | 'group_id' | 'shared_with_group_id'>,
  by?: User,
): Promise<boolean> {
  return transact(app, async (app) => {
    await lockShares(app, group_id)
    const gone = await app.db.deleteFrom('group_shares').where('id', '=', id).returning('id').executeTakeFirst()
    if (!gone) return false
    await refreshAuthorizations(app, { group: group_id })
    await emit(app, 'group.unshared', { group_id, shared_with_group_id, ...(by && { by: by.id }) })
    return true
  })
}

/**
 * Call it in the transaction that deletes a group and everything below it: its members lose the access that shares gave
 * them.
 */
export async function endGroupSharesWith(app: TransactionApp, group: number): Promise<void> {
  const ended = await app.db
    .deleteFrom('group_shares')
    .where('shared_with_group_id', 'in', treeOf(app.db, group))
    .returning('group_id')
    .execute()
  for (const shared of new Set(ended.map(({ group_id }) => group_id))) {
    await refreshAuthorizations(app, { group: shared })
  }
}

/** Creates the shares of a restored group again. The caller refreshes the authorizations inside the restored group. */
export async function restoreGroupShares(
  app: TransactionApp,
  shares: readonly Pick<
    GroupShare,
    'group_id' | 'shared_with_group_id' | 'group_access' | 'expires_at' | 'created_at'
  >[],
): Promise<void> {
  if (shares.length === 0) return
  const updated_at = timestamp(app.clock)
  await app.db
    .insertInto('group_shares')
    .values(shares.map((share) => ({ ...share, updated_at })))
    .onConflict((c) => c.columns(['group_id', 'shared_with_group_id']).doNothing())
    .execute()
}

/** Deletes shares with an ancestor of the shared group, which would have no effect. */
export async function endGroupSharesAround(app: App, group: number): Promise<void> {
  await app.db
    .deleteFrom('group_shares')
    .where('group_id', 'in', treeOf(app.db, group))
    .where('shared_with_group_id', 'in', (eb) =>
      eb
        .selectFrom('namespace_ancestors as above')
        .select('above.ancestor_id')
        .whereRef('above.namespace_id', '=', 'group_shares.group_id'),
    )
    .execute()
}

/** Serializes changes to the shares of one group: each change recomputes all access that the group grants. */
const lockShares = (app: TransactionApp, group: number) => lockName(app.db, `shares of group ${group}`)
