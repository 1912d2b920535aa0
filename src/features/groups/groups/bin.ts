/**
 * The bin of groups: a deleted group is hidden with everything in it, and all of it comes back as one. What was deleted
 * by itself before stays in the bin.
 */
import { sql } from 'kysely'
import { HOUR, timestamp } from '../../../clock.ts'
import { job, type App, type TransactionApp, type User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import { isWider } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import {
  binNamespacesIn,
  narrowNamespaces,
  renameBelow,
  restoreNamespacesOf,
  updateNamespace,
} from '../../identity/namespaces/service.ts'
import {
  NOT_IN_BIN,
  binColumns,
  binProjectsIn,
  binSuffix,
  restoreProjectsOf,
  type RestoreInput,
} from '../../projects/projects/bin.ts'
import { narrowProjectsIn } from '../../projects/projects/visibility.ts'
import { restoreProjectShares, endSharesWith } from '../../projects/sharing/service.ts'
import { restoreGroupShares, endGroupSharesWith } from '../sharing/service.ts'
import { fullNameOf, fullPathOf, isPathTaken, lockTree, refusingDuplicates, reservePath } from './paths.ts'
import { findBinnedGroup, findGroupById, type Group } from './queries.ts'
import { removeGroups } from './removal.ts'
import { assertValidGroup } from './validation.ts'

export async function binGroup(app: App, actor: User, { id }: Group, days: number): Promise<void> {
  await transact(app, async (app) => {
    await lockTree(app, id)
    const group = await findGroupById(app.db, id)
    if (!group) throw notFound('Group')
    await keepSharesWith(app, id)
    await endSharesWith(app, id)
    await endGroupSharesWith(app, id)
    await binNamespacesIn(app, id)
    await binProjectsIn(app, id, actor)
    // Messages about the deletion have the old paths.
    await emit(app, 'group.deleted', { id, name: group.name, full_path: group.full_path, by: actor.id, in_bin: true })
    await rename(app, group, group.name, group.path, await freeSuffix(app, group), binColumns(app, group, actor, days))
  })
}

async function keepSharesWith(app: TransactionApp, id: number): Promise<void> {
  const columns = sql`group_access, expires_at, created_at`
  await sql`insert into deleted_shares (bin_id, project_id, shared_with_group_id, ${columns})
    select ${id}, project_id, group_id, ${columns} from project_shares
    where group_id in (${treeOf(app.db, id)})`.execute(app.db)
  await sql`insert into deleted_shares (bin_id, group_id, shared_with_group_id, ${columns})
    select ${id}, group_id, shared_with_group_id, ${columns} from group_shares
    where shared_with_group_id in (${treeOf(app.db, id)})`.execute(app.db)
}

async function rename(
  app: TransactionApp,
  group: Group,
  name: string,
  path: string,
  suffix: string,
  more: Partial<Group>,
): Promise<Group> {
  const parent = group.parent_id === null ? null : await parentOf(app, group.parent_id)
  const after = await updateNamespace(app, group.id, {
    ...more,
    name: name + suffix,
    path: path + suffix,
    full_name: fullNameOf(parent, name + suffix),
    full_path: fullPathOf(parent, path + suffix),
    updated_at: timestamp(app.clock),
  })
  await renameBelow(app, group, after)
  return after
}

const parentOf = ({ db }: App, id: number): Promise<Group> =>
  db.selectFrom('namespaces').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Users may have given another group or project the usual path of this one in the bin. */
async function freeSuffix(app: TransactionApp, { id, parent_id, path, full_path }: Group): Promise<string> {
  const suffix = binSuffix(id)
  const isTaken = await isPathTaken(app, { id, parent_id, path: path + suffix, full_path: full_path + suffix })
  return isTaken ? `${suffix}-${randomHex(16)}` : suffix
}

export async function restoreGroup(app: App, actor: User, { id }: Group, input: RestoreInput): Promise<Group> {
  return refusingDuplicates(() =>
    transact(app, async (app) => {
      await lockTree(app, id)
      const group = await findBinnedGroup(app.db, String(id))
      if (!group) throw new Refusal('bad_request', 'Group has not been marked for deletion')
      const { parent_id } = group
      const parent = parent_id === null ? null : await findGroupById(app.db, parent_id)
      if (parent_id !== null && !parent) {
        throw new Refusal('bad_request', 'The parent group is deleted. Restore the parent group first.')
      }
      assertValidGroup({ name: input.name, path: input.path }, { isRoot: parent_id === null })
      const name = input.name ?? group.deleted_name!
      const path = input.path ?? group.deleted_path!
      await reservePath(app, { id, parent_id, name, path, full_path: fullPathOf(parent, path) })
      const restored = await rename(app, group, name, path, '', { ...NOT_IN_BIN, deleting: false })
      await restoreNamespacesOf(app, id)
      await restoreProjectsOf(app, id, actor)
      if (parent && isWider(restored.visibility, parent.visibility)) {
        await narrowNamespaces(app, id, parent.visibility)
        await narrowProjectsIn(app, id, parent.visibility)
      }
      await restoreShares(app, id)
      await refreshAuthorizations(app, { group: id })
      await emit(app, 'group.restored', { id, by: actor.id })
      return (await findGroupById(app.db, id))!
    }),
  )
}

async function restoreShares(app: TransactionApp, id: number): Promise<void> {
  const shares = await app.db.deleteFrom('deleted_shares').where('bin_id', '=', id).returningAll().execute()
  const ofProjects: Parameters<typeof restoreProjectShares>[1][number][] = []
  const ofGroups: Parameters<typeof restoreGroupShares>[1][number][] = []
  for (const { project_id, group_id, shared_with_group_id, group_access, expires_at, created_at } of shares) {
    const rest = { group_access, expires_at, created_at }
    if (project_id !== null) ofProjects.push({ ...rest, project_id, group_id: shared_with_group_id })
    else if (group_id !== null) ofGroups.push({ ...rest, group_id, shared_with_group_id })
  }
  await restoreProjectShares(app, ofProjects)
  await restoreGroupShares(app, ofGroups)
}

/** Deletes a group in the bin for good. Its full path confirms the request, with or without the suffix. */
export async function purgeGroup(app: App, group: Group, fullPath: string | null): Promise<void> {
  if (!group.deleting) throw new Refusal('bad_request', 'Group must be marked for deletion first.')
  const before = group.full_path.slice(0, -group.path.length) + group.deleted_path!
  if (fullPath === null || ![group.full_path, before].includes(fullPath)) {
    throw new Refusal('bad_request', '`full_path` is incorrect. You must enter the complete path for the group.')
  }
  if (!(await takeFromBin(app, group.id))) throw notFound('Group')
}

/** From now on nobody can restore the group. False if it is no longer in the bin. */
async function takeFromBin(app: App, id: number, dueBy?: string): Promise<boolean> {
  return transact(app, async (app) => {
    await lockTree(app, id)
    const group = await findBinnedGroup(app.db, String(id))
    if (!group || (dueBy !== undefined && group.deletion_due_at! > dueBy)) return false
    const updated_at = timestamp(app.clock)
    await updateNamespace(app, id, { marked_for_deletion_at: null, deletion_due_at: null, updated_at })
    await enqueue(app, removeGroups, { id }, { key: `groups.remove ${id}` })
    return true
  })
}

const GROUPS_A_TURN = 100

export const emptyGroupBin = job<object>(
  'groups.empty_bin',
  async (app) => {
    for (;;) {
      const now = timestamp(app.clock)
      const due = await app.db
        .selectFrom('namespaces')
        .select('id')
        .where('deletion_due_at', '<=', now)
        .orderBy('deletion_due_at')
        .limit(GROUPS_A_TURN)
        .execute()
      for (const { id } of due) await takeFromBin(app, id, now)
      if (due.length < GROUPS_A_TURN) return
    }
  },
  { every: HOUR },
)
