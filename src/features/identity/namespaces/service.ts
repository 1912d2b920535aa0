import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { NewRow, Row } from '../../../store/database.ts'

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
