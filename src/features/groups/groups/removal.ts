/** Deletes a group without the bin: hides it and everything in it at once, and deletes the rows step by step in the background. */
import { job, type App, type TransactionApp, type User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { drain } from '../../../store/draining.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { markNamespacesDeleted, removeNamespace } from '../../identity/namespaces/service.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { markProjectsDeleted, removeProjectsIn } from '../../projects/projects/removal.ts'
import { endSharesWith } from '../../projects/sharing/service.ts'
import { endGroupSharesWith } from '../sharing/service.ts'
import { lockTree } from './paths.ts'
import { findGroupById, type Group } from './queries.ts'

export async function deleteGroupAtOnce(app: App, actor: User, { id }: Group): Promise<void> {
  await transact(app, async (app) => {
    await lockTree(app, id)
    const group = await findGroupById(app.db, id)
    if (!group) throw notFound('Group')
    await markGroupDeleted(app, group, actor)
  })
}

/** Call it in a transaction. `actor` is absent if the group is deleted with its last owner. */
export async function markGroupDeleted(
  app: TransactionApp,
  { id, name, full_path }: Group,
  actor?: User,
): Promise<void> {
  await markNamespacesDeleted(app, id)
  await markProjectsDeleted(app, id)
  await endSharesWith(app, id)
  await endGroupSharesWith(app, id)
  await enqueue(app, removeGroups, { id }, { key: `groups.remove ${id}` })
  await emit(app, 'group.deleted', { id, name, full_path, ...(actor && { by: actor.id }) })
}

/** Every step is independent, so a retry after a crash continues where the job stopped. */
export const removeGroups = job<{ id: number }>('groups.remove', async (app, { id }) => {
  while (!(await removeProjectsIn(app, id)));
  const groups = await app.db
    .selectFrom('namespaces')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'namespaces.id')
    .select(['namespaces.id', 'namespaces.avatar_digest', 'namespaces.deleted_path'])
    .where('namespace_ancestors.ancestor_id', '=', id)
    .orderBy('namespace_ancestors.depth', 'desc')
    .execute()
  for (const group of groups) {
    await drain(app, 'namespaces', group.id)
    await removeGroup(app, group)
  }
})

async function removeGroup(
  app: App,
  { id, avatar_digest, deleted_path }: Pick<Group, 'id' | 'avatar_digest' | 'deleted_path'>,
): Promise<void> {
  await transact(app, async (app) => {
    // A share may have been created at the moment the group was deleted.
    await endSharesWith(app, id)
    await endGroupSharesWith(app, id)
    await removeNamespace(app, id)
    await releaseBlob(app, avatar_digest)
    if (deleted_path !== null) await emit(app, 'group.purged', { id })
  })
}
