import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { Owner, isWider } from '../../../lib/levels.ts'
import { TAKEN as ALREADY_TAKEN } from '../../../lib/text/faults.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { findMember, hasAnotherOwner } from '../../access/members/queries.ts'
import { addMember, updateMember } from '../../access/members/service.ts'
import { depthOf, treeOf } from '../../identity/namespaces/queries.ts'
import { lockShares, moveNamespace, narrowNamespaces, updateNamespace } from '../../identity/namespaces/service.ts'
import { fitted, narrowProjectsIn } from '../../projects/projects/visibility.ts'
import { endSharesInTree } from '../../projects/sharing/service.ts'
import { fullNameOf, fullPathOf, lockTree, moveTree, refusingDuplicates, reservePath } from '../groups/paths.ts'
import { findGroupById, type Group } from '../groups/queries.ts'
import { MOST_ANCESTORS, assertMayNestIn } from '../groups/service.ts'
import { assertValidGroup } from '../groups/validation.ts'
import { endGroupSharesAround } from '../sharing/service.ts'

const refusal = (fault: string) => new Refusal('bad_request', `Transfer failed: ${fault}`)

const TAKEN = 'The parent group already has a subgroup or a project with the same path.'

/**
 * Moves a group and everything below it into another group, or to the top level; the old paths redirect to the new
 * ones.
 */
export async function transferGroup(app: App, actor: User, { id }: Group, target: number | null): Promise<Group> {
  if (target !== null) await assertMayNestIn(app, actor, target)
  else if (!actor.can_create_group && !actor.admin) throw forbidden()
  return refusingTaken(() =>
    transact(app, async (app) => {
      // Only transfers lock two trees. Running one transfer at a time prevents a deadlock.
      await lockName(app.db, 'transfer of groups')
      const group = await lockedGroup(app, id)
      const parent = target === null ? null : await lockedGroup(app, target)
      await assertMovable(app, group, parent)
      const { name, path } = group
      assertValidGroup({ path }, { isRoot: parent === null })
      const scope = { parent_id: target, name, path, full_path: fullPathOf(parent, path) }
      await reservePath(app, { id, ...scope })
      const moved = await updateNamespace(app, id, {
        ...scope,
        full_name: fullNameOf(parent, name),
        updated_at: timestamp(app.clock),
      })
      await moveNamespace(app, id, target)
      await moveTree(app, group, moved)
      await fitInto(app, moved, parent)
      await ensureOwner(app, moved, actor)
      await refreshAuthorizations(app, { group: id })
      await emit(app, 'group.transferred', { id, by: actor.id, old_full_path: group.full_path })
      return (await findGroupById(app.db, id))!
    }),
  )
}

async function lockedGroup(app: TransactionApp, id: number): Promise<Group> {
  await lockTree(app, id)
  const group = await findGroupById(app.db, id)
  if (!group) throw notFound('Group')
  return group
}

async function assertMovable(app: App, group: Group, parent: Group | null): Promise<void> {
  if (group.parent_id === (parent?.id ?? null)) {
    throw refusal(parent ? 'Group is already associated to the parent group.' : 'Group is already a root group.')
  }
  if (!parent) return
  const inside = await treeOf(app.db, group.id).where('namespace_id', '=', parent.id).executeTakeFirst()
  if (inside) throw refusal('Cannot transfer group to one of its subgroup.')
  const { above } = await depthOf(app.db, parent.id)
  const { below } = await depthOf(app.db, group.id)
  if (above + 1 + below > MOST_ANCESTORS) throw refusal('The group would be nested too deep.')
}

/** Applies the limits of the new parent to the moved group: visibility and share locks. */
async function fitInto(app: TransactionApp, { id, visibility }: Group, parent: Group | null): Promise<void> {
  await endSharesInTree(app, id)
  await endGroupSharesAround(app, id)
  if (!parent) return
  if (parent.share_with_group_lock) await lockShares(app, id)
  if (!isWider(visibility, parent.visibility)) return
  const narrowed = fitted(visibility, parent.visibility)
  await narrowNamespaces(app, id, narrowed)
  await narrowProjectsIn(app, id, narrowed)
}

/** If the only owners were inherited from the old parent, the actor becomes owner. */
async function ensureOwner(app: App, { id: group_id }: Group, actor: User): Promise<void> {
  if (await hasAnotherOwner(app.db, { id: 0, group_id })) return
  const at = { group_id, project_id: null }
  const member = await findMember(app.db, at, actor.id)
  if (member) await updateMember(app, member, { access_level: Owner, expires_at: null }, actor.id)
  else await addMember(app, at, actor.id, { access_level: Owner }, actor.id)
}

async function refusingTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await refusingDuplicates(work)
  } catch (error) {
    throw isTaken(error) ? refusal(TAKEN) : error
  }
}

const isTaken = (error: unknown) =>
  error instanceof Refusal && error.kind === 'bad_request' && JSON.stringify(error.reason).includes(ALREADY_TAKEN)
