import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { VISIBILITIES, isWider, type Visibility } from '../../../lib/levels.ts'
import type { NewRow, Row, RowChange } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { treeOf } from './queries.ts'

/** Every user owns one namespace, which contains their personal projects. */
export async function createUserNamespace(app: App, user: User): Promise<void> {
  const now = timestamp(app.clock)
  await addNamespace(app, {
    kind: 'user',
    name: user.username,
    path: user.username,
    full_name: user.username,
    full_path: user.username,
    parent_id: null,
    owner_id: user.id,
    created_at: now,
    updated_at: now,
  })
}

/** Inserts a namespace and its ancestors: the only function that adds rows to `namespaces`. */
export async function addNamespace(app: App, row: NewRow<'namespaces'>): Promise<Row<'namespaces'>> {
  const { db } = app
  const added = await db.insertInto('namespaces').values(row).returningAll().executeTakeFirstOrThrow()
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth)
    select n.id, a.ancestor_id, a.depth + 1 from namespaces n
    join namespace_ancestors a on a.namespace_id = n.parent_id where n.id = ${added.id}
    union all select id, id, 0 from namespaces where id = ${added.id}`.execute(db)
  return added
}

/** For namespaces that came back from a backup. */
export async function addAncestorsOf({ db }: App, ids: readonly number[]): Promise<void> {
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth)
    with recursive above (namespace_id, ancestor_id, depth) as (
      select id, id, 0 from namespaces where ${inIdList(db, 'id', idList(db, ids))}
      union all
      select a.namespace_id, n.parent_id, a.depth + 1 from above a
      join namespaces n on n.id = a.ancestor_id where n.parent_id is not null
    ) select namespace_id, ancestor_id, depth from above`.execute(db)
}

export async function renameUserNamespace(app: App, { id, username }: User): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ name: username, path: username, full_name: username, full_path: username, updated_at: timestamp(app.clock) })
    .where('owner_id', '=', id)
    .where('kind', '=', 'user')
    .execute()
}

/** The calling family validates the change and emits its events. */
export async function updateNamespace(
  app: App,
  id: number,
  change: RowChange<'namespaces'>,
): Promise<Row<'namespaces'>> {
  return app.db.updateTable('namespaces').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/**
 * Gives the namespace and its descendants the ancestors of the new parent, if any. Names and paths are not changed
 * here.
 */
export async function moveNamespace({ db }: App, id: number, parent: number | null): Promise<void> {
  await db
    .deleteFrom('namespace_ancestors')
    .where('namespace_id', 'in', treeOf(db, id))
    .where('ancestor_id', 'not in', treeOf(db, id))
    .execute()
  if (parent === null) return
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth)
    select below.namespace_id, above.ancestor_id, below.depth + above.depth + 1
    from namespace_ancestors below cross join namespace_ancestors above
    where below.ancestor_id = ${id} and above.namespace_id = ${parent}`.execute(db)
}

/** Lowers the visibility of all namespaces in the tree to at most this one. */
export async function narrowNamespaces(app: App, id: number, visibility: Visibility): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ visibility, updated_at: timestamp(app.clock) })
    .where('id', 'in', treeOf(app.db, id))
    .where(
      'visibility',
      'in',
      VISIBILITIES.filter((one) => isWider(one, visibility)),
    )
    .execute()
}

/** Length in code points, as the databases count. */
const lengthOf = (text: string) => Array.from(text).length

/** Updates the full names and paths of all descendants after a rename. */
export async function renameBelow(app: App, before: Row<'namespaces'>, after: Row<'namespaces'>): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({
      full_path: sql`${after.full_path} || substr(full_path, ${lengthOf(before.full_path) + 1})`,
      full_name: sql`${after.full_name} || substr(full_name, ${lengthOf(before.full_name) + 1})`,
      updated_at: timestamp(app.clock),
    })
    .where('id', 'in', treeOf(app.db, after.id).where('depth', '>', 0))
    .execute()
}

/** Locks sharing for the namespace and everything below it. */
export async function lockShares(app: TransactionApp, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ share_with_group_lock: true })
    .where('id', 'in', treeOf(app.db, id))
    .execute()
}

/**
 * Marks the namespace and its descendants: nobody sees them from now on, nobody can restore them, and a job deletes the
 * rows later.
 */
export async function markNamespacesDeleted(app: App, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ deleting: true, marked_for_deletion_at: null, deletion_due_at: null, updated_at: timestamp(app.clock) })
    .where('id', 'in', treeOf(app.db, id))
    .execute()
}

/** Hides the namespace and its descendants. Those that are hidden already were deleted by themselves. */
export async function binNamespacesIn(app: TransactionApp, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set((eb) => ({
      deleting: true,
      deleted_with_group_id: eb.case().when('id', '=', id).then(null).else(id).end(),
      updated_at: timestamp(app.clock),
    }))
    .where('id', 'in', treeOf(app.db, id))
    .where('deleting', '=', false)
    .execute()
}

/** The descendants that were deleted with this namespace. */
export async function restoreNamespacesOf(app: TransactionApp, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ deleting: false, deleted_with_group_id: null, updated_at: timestamp(app.clock) })
    .where('deleted_with_group_id', '=', id)
    .execute()
}

export async function removeNamespace(app: App, id: number): Promise<void> {
  await app.db.deleteFrom('namespaces').where('id', '=', id).execute()
}
