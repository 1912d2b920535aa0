import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { VISIBILITIES, isWider, type Visibility } from '../../../lib/levels.ts'
import type { NewRow, Row, RowChange } from '../../../store/database.ts'
import { treeOf } from './queries.ts'

/** Every user owns one: where their personal projects live. */
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

/** A namespace and its way up: every row of `namespaces` comes in here. */
export async function addNamespace(app: App, row: NewRow<'namespaces'>): Promise<Row<'namespaces'>> {
  const { db } = app
  const added = await db.insertInto('namespaces').values(row).returningAll().executeTakeFirstOrThrow()
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth)
    select n.id, a.ancestor_id, a.depth + 1 from namespaces n
    join namespace_ancestors a on a.namespace_id = n.parent_id where n.id = ${added.id}
    union all select id, id, 0 from namespaces where id = ${added.id}`.execute(db)
  return added
}

export async function renameUserNamespace(app: App, { id, username }: User): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ name: username, path: username, full_name: username, full_path: username, updated_at: timestamp(app.clock) })
    .where('owner_id', '=', id)
    .where('kind', '=', 'user')
    .execute()
}

/** Whether the change is right and whom it must be told is for the family that makes it. */
export async function updateNamespace(
  app: App,
  id: number,
  change: RowChange<'namespaces'>,
): Promise<Row<'namespaces'>> {
  return app.db.updateTable('namespaces').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Itself and all below it get the way up from its new parent, or none. Names and paths are another matter. */
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

/** With all below: none is seen by more people than this. */
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

/** As the engines count: whole characters. */
const lengthOf = (text: string) => Array.from(text).length

/** Everything below follows a namespace's new name and path. */
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

/** Nothing in it or below it can be shared with groups elsewhere. */
export async function lockShares(app: App, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ share_with_group_lock: true })
    .where('id', 'in', treeOf(app.db, id))
    .execute()
}

/** With all below: nobody sees them from now on, and their rows go later. */
export async function markNamespacesDeleted(app: App, id: number): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ deleting: true, updated_at: timestamp(app.clock) })
    .where('id', 'in', treeOf(app.db, id))
    .execute()
}

export async function removeNamespace(app: App, id: number): Promise<void> {
  await app.db.deleteFrom('namespaces').where('id', '=', id).execute()
}
