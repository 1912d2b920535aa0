import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
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
 * Lets the members of another group into this one and all below it, each at most at the level of the share. A lock of
 * shares is no hindrance: it is for those who administer projects, and whoever owns the group could lift it.
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

/** `by` is absent where its day has come. Somebody may have been faster: then nothing happens, and it answers false. */
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

/** In the transaction in which a group goes with all below it: its people lose what others let them into. */
export async function endGroupSharesWith(app: App, group: number): Promise<void> {
  const ended = await app.db
    .deleteFrom('group_shares')
    .where('shared_with_group_id', 'in', treeOf(app.db, group))
    .returning('group_id')
    .execute()
  for (const shared of new Set(ended.map(({ group_id }) => group_id))) {
    await refreshAuthorizations(app, { group: shared })
  }
}

/** A share with a group that one lies in would say nothing. */
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

/** Changes of one group's shares side by side wait for each other: each works out all that the group grants. */
const lockShares = (app: App, group: number) => lockName(app.db, `shares of group ${group}`)
