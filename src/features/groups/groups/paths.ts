/** The path of a group in the tree: how a group gets its path, and what changes with the path. */
import { sql } from 'kysely'
import type { App, TransactionApp } from '../../../context.ts'
import { taken } from '../../../errors.ts'
import { binaryText, lockName, locksRows } from '../../../store/dialect.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { renameBelow } from '../../identity/namespaces/service.ts'
import { lockPath, addRedirect } from '../../projects/paths/paths.ts'
import type { Group } from './queries.ts'

/**
 * Locks the tree of this group until the transaction ends. Take this lock before any row lock: transactions reach the
 * rows of a tree from above and from below, and would deadlock otherwise.
 */
export async function lockTree(app: TransactionApp, id: number): Promise<void> {
  for (let locked: number | null = null; ;) {
    const root = await app.db
      .selectFrom('namespace_ancestors')
      .select('ancestor_id')
      .where('namespace_id', '=', id)
      .orderBy('depth', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!root || root.ancestor_id === locked) return
    await lockName(app.db, `tree ${root.ancestor_id}`)
    // The group may have moved into another tree while this transaction waited.
    if (!locksRows(app.db)) return
    locked = root.ancestor_id
  }
}

interface Scope {
  id?: number
  parent_id: number | null
  name: string
  path: string
  full_path: string
}

/** Throws if a sibling has the name or any record has the path. Locks both, so that no other transaction takes them. */
export async function reservePath(app: TransactionApp, scope: Scope): Promise<void> {
  const { db } = app
  const { id = 0, parent_id, name, path, full_path } = scope
  await lockName(db, `group ${parent_id} ${name}`)
  if (await isNameTaken(app, { id, parent_id, name })) throw taken('name')

  await lockPath(app, full_path)
  if (await isPathTaken(app, { id, parent_id, path, full_path })) throw taken('path')
}

/** Whether a sibling of the group `id` has the name. */
export async function isNameTaken(
  { db }: App,
  { id, parent_id, name }: Pick<Group, 'id' | 'parent_id' | 'name'>,
): Promise<boolean> {
  const sibling = await db
    .selectFrom('namespaces')
    .select('id')
    .where('kind', '=', 'group')
    .where('deleting', '=', false)
    // The index contains names in lower case only.
    .where(sql.raw(binaryText(db, 'name')), '=', sql`lower(${name})`)
    .where('name', '=', name)
    .where('parent_id', parent_id === null ? 'is' : '=', parent_id)
    .where('id', '!=', id)
    .executeTakeFirst()
  return sibling !== undefined
}

/** Whether a namespace other than `id`, or a project, has the path. */
export async function isPathTaken(
  { db }: App,
  { id, parent_id, path, full_path }: Pick<Group, 'id' | 'parent_id' | 'path' | 'full_path'>,
): Promise<boolean> {
  const namespace = await db
    .selectFrom('namespaces')
    .select('id')
    .where(sql`lower(full_path)`, '=', full_path.toLowerCase())
    .where('id', '!=', id)
    .executeTakeFirst()
  if (namespace) return true
  if (parent_id === null) return false
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', parent_id)
    .where(sql`lower(path)`, '=', path.toLowerCase())
    .executeTakeFirst()
  return project !== undefined
}

/** A concurrent new user may have taken the path, because creating a user takes no lock here. */
export const refusingDuplicates = <T>(work: () => Promise<T>): Promise<T> =>
  unlessTaken(work(), 'namespaces', [['full_path']], () => taken('path'))

export const fullPathOf = (parent: Group | null, path: string): string =>
  parent ? `${parent.full_path}/${path}` : path

export const fullNameOf = (parent: Group | null, name: string): string =>
  parent ? `${parent.full_name} / ${name}` : name

/** Updates the names and paths of all descendants and redirects the old path to the group. */
export async function moveTree(app: App, before: Group, after: Group): Promise<void> {
  if (before.full_path === after.full_path && before.full_name === after.full_name) return
  await renameBelow(app, before, after)
  if (before.full_path.toLowerCase() !== after.full_path.toLowerCase()) {
    await addRedirect(app, before.full_path, { namespace_id: after.id })
  }
}
