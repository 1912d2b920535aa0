import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'

/** Every user owns one: where their personal projects live. */
export async function createUserNamespace(app: App, user: User): Promise<void> {
  const now = timestamp(app.clock)
  await app.db
    .insertInto('namespaces')
    .values({
      kind: 'user',
      name: user.username,
      path: user.username,
      full_path: user.username,
      parent_id: null,
      owner_id: user.id,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

export async function renameUserNamespace(app: App, { id, username }: User): Promise<void> {
  await app.db
    .updateTable('namespaces')
    .set({ name: username, path: username, full_path: username, updated_at: timestamp(app.clock) })
    .where('owner_id', '=', id)
    .where('kind', '=', 'user')
    .execute()
}
