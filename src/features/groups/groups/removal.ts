/** The end of a group: gone for everybody at once with all that is in it, and from the store piece by piece after. */
import { job, type App, type User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { markNamespacesDeleted, removeNamespace } from '../../identity/namespaces/service.ts'
import { leaveBlob } from '../../instance/blobs/jobs.ts'
import { markProjectsDeleted, removalKey, removeProject } from '../../projects/projects/removal.ts'
import { endSharesWith } from '../../projects/sharing/service.ts'
import { endGroupSharesWith } from '../sharing/service.ts'
import { holdTree } from './places.ts'
import { findGroupById, type Group } from './queries.ts'

const PROJECTS_A_TURN = 100

export async function deleteGroup(app: App, actor: User, { id }: Group): Promise<void> {
  await transact(app, async (app) => {
    await holdTree(app, id)
    const group = await findGroupById(app.db, id)
    if (!group) throw notFound('Group')
    await markGroupDeleted(app, group, actor)
  })
}

/** In a transaction; nobody in particular deletes what goes with its last owner. */
export async function markGroupDeleted(app: App, { id, name, full_path }: Group, actor?: User): Promise<void> {
  await markNamespacesDeleted(app, id)
  await markProjectsDeleted(app, id)
  await endSharesWith(app, id)
  await endGroupSharesWith(app, id)
  await enqueue(app, removeGroups, { id }, { key: `groups.remove ${id}` })
  await emit(app, 'group.deleted', { id, name, full_path, ...(actor && { by: actor.id }) })
}

/** Every step stands on its own, so whoever takes over after a crash goes on where it broke off. */
export const removeGroups = job<{ id: number }>('groups.remove', async (app, { id }) => {
  for (;;) {
    const projects = await app.db
      .selectFrom('projects')
      .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
      .selectAll('projects')
      .select('namespaces.full_path')
      .where('projects.namespace_id', 'in', treeOf(app.db, id))
      .limit(PROJECTS_A_TURN)
      .execute()
    const told = await toldOf(app, projects)
    for (const { full_path, ...project } of projects) {
      const news = { path_with_namespace: `${full_path}/${project.path}` }
      await removeProject(app, project, told.has(project.id) ? undefined : news)
    }
    if (projects.length < PROJECTS_A_TURN) break
  }
  const groups = await app.db
    .selectFrom('namespaces')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'namespaces.id')
    .select(['namespaces.id', 'namespaces.avatar_digest'])
    .where('namespace_ancestors.ancestor_id', '=', id)
    .orderBy('namespace_ancestors.depth', 'desc')
    .execute()
  for (const group of groups) await removeGroup(app, group)
})

/** Those that were deleted of themselves before their group was. */
async function toldOf(app: App, projects: readonly { id: number }[]): Promise<Set<number>> {
  if (projects.length === 0) return new Set()
  const keys = new Map(projects.map(({ id }) => [removalKey(id), id]))
  const jobs = await app.db
    .selectFrom('jobs')
    .select('key')
    .where('key', 'in', [...keys.keys()])
    .execute()
  return new Set(jobs.map(({ key }) => keys.get(key!)!))
}

async function removeGroup(app: App, { id, avatar_digest }: Pick<Group, 'id' | 'avatar_digest'>): Promise<void> {
  await transact(app, async (app) => {
    // Somebody may have shared something at the very moment the group went.
    await endSharesWith(app, id)
    await endGroupSharesWith(app, id)
    await removeNamespace(app, id)
    await leaveBlob(app, avatar_digest)
  })
}
