/** Deletes projects without the bin: hidden from everybody at once, and deleted from disk soon after. */
import { timestamp } from '../../../clock.ts'
import { job, type App, type TransactionApp, type User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { removeRepository } from '../../../git/storage/repositories.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { drain } from '../../../store/draining.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { removeNamespace } from '../../identity/namespaces/service.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { forsakePool } from '../forks/pools.ts'
import type { ProjectRemoved } from './model.ts'
import type { Namespace, Project } from './queries.ts'
import { repositoryDir, wikiDir } from '../repositories/repository.ts'

export async function deleteProjectAtOnce(
  app: App,
  actor: User,
  project: Project,
  namespace: Namespace,
): Promise<void> {
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('projects')
      .set({ deleting: true, updated_at: timestamp(app.clock) })
      .where('id', '=', project.id)
      .where('deleting', '=', false)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw notFound('Project') // a concurrent request deleted the project
    await enqueue(app, removeLater, { id: project.id }, { key: removalKey(project.id) })
    await emit(app, 'project.deleted', { ...removalOf(project, namespace), by: actor.id })
  })
}

/** The payload of the removal event. */
export const removalOf = (
  { id, name, path, namespace_id, visibility, created_at, updated_at }: Project,
  { kind, full_path }: Pick<Namespace, 'kind' | 'full_path'>,
): ProjectRemoved => ({
  id,
  name,
  path,
  path_with_namespace: `${full_path}/${path}`,
  namespace_id,
  group_id: kind === 'group' ? namespace_id : null,
  visibility,
  created_at,
  updated_at,
})

/**
 * Runs in the transaction that deletes the namespace above the projects. The rows are deleted later. Projects in the
 * bin cannot be restored any more.
 */
export async function markProjectsDeleted(app: TransactionApp, namespace: number): Promise<void> {
  await app.db
    .updateTable('projects')
    .set({ deleting: true, marked_for_deletion_at: null, deletion_due_at: null, updated_at: timestamp(app.clock) })
    .where('namespace_id', 'in', treeOf(app.db, namespace))
    .execute()
}

export const removeLater = job<{ id: number }>('projects.remove', async (app, { id }) => {
  const project = await app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
  if (project?.deleting && project.marked_for_deletion_at === null) await removeProject(app, project)
})

/**
 * Deletes the row and everything that depends on it; files outside the store follow a little later. Idempotent. Emits
 * the event unless it was emitted before.
 */
export async function removeProject(app: App, project: Project, event?: ProjectRemoved): Promise<void> {
  // Blobs of uploads are released together with the row.
  if (!app.db.isTransaction) await drain(app, 'projects', project.id, { except: ['uploads'] })
  await transact(app, async (app) => {
    const { db } = app
    const uploads = await db.selectFrom('uploads').select('digest').where('project_id', '=', project.id).execute()
    const gone = await db.deleteFrom('projects').where('id', '=', project.id).returning('pool_id').executeTakeFirst()
    if (!gone) return
    if (project.forked_from_id !== null) {
      await db
        .updateTable('projects')
        .set((eb) => ({ forks_count: eb('forks_count', '-', 1) }))
        .where('id', '=', project.forked_from_id)
        .where('forks_count', '>', 0)
        .execute()
    }
    for (const digest of [project.avatar_digest, ...uploads.map((upload) => upload.digest)])
      await releaseBlob(app, digest)
    const pool = gone.pool_id === null ? null : await forsakePool(app, gone.pool_id)
    for (const dir of [repositoryDir(app, project), wikiDir(app, project), pool]) {
      if (dir !== null) await enqueue(app, removeRepositoryLater, { dir })
    }
    if (event) await emit(app, 'project.deleted', event)
    if (wasInBin(project)) await emit(app, 'project.purged', { id: project.id })
  })
}

/** The event was emitted when the project went to the bin, by itself or with its group. */
const wasInBin = ({ deleted_path, deleted_with_group_id }: Project) =>
  deleted_path !== null || deleted_with_group_id !== null

const PROJECTS_A_TURN = 100
/** The limit of rows that one transaction deletes. */
const MOST_ROWS = 200

/** Whether the projects of a namespace have so few rows that one transaction can delete them. */
export async function areLight({ db }: App, namespace: number): Promise<boolean> {
  const own = db.selectFrom('projects').select('id').where('namespace_id', 'in', treeOf(db, namespace))
  for (const table of ['issues', 'merge_requests', 'notes', 'pipelines', 'ci_jobs'] as const) {
    const rows = await db.selectFrom(table).select('id').where('project_id', 'in', own).limit(MOST_ROWS).execute()
    if (rows.length === MOST_ROWS) return false
  }
  return true
}

/** Deletes some projects in or below a namespace. True when none is left. Each step is independent. */
export async function removeProjectsIn(app: App, namespace: number): Promise<boolean> {
  const projects = await app.db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('projects')
    .select(['namespaces.full_path', 'namespaces.kind'])
    .where('projects.namespace_id', 'in', treeOf(app.db, namespace))
    .orderBy('projects.id')
    .limit(PROJECTS_A_TURN)
    .execute()
  const announced = await announcedAmong(app, projects)
  for (const { full_path, kind, ...project } of projects) {
    const isAnnounced = announced.has(project.id) || wasInBin(project)
    await removeProject(app, project, isAnnounced ? undefined : removalOf(project, { full_path, kind }))
  }
  return projects.length < PROJECTS_A_TURN
}

/** Projects that were deleted individually before their namespace was. */
async function announcedAmong(app: App, projects: readonly { id: number }[]): Promise<Set<number>> {
  if (projects.length === 0) return new Set()
  const keys = new Map(projects.map(({ id }) => [removalKey(id), id]))
  const jobs = await app.db
    .selectFrom('jobs')
    .select('key')
    .where('key', 'in', [...keys.keys()])
    .execute()
  return new Set(jobs.map(({ key }) => keys.get(key!)!))
}

/** Deletes the rest of a personal namespace after its owner was removed. */
export const removeRestLater = job<{ namespace: number }>('projects.remove_rest', async (app, { namespace }) => {
  while (!(await removeProjectsIn(app, namespace)));
  await drain(app, 'namespaces', namespace)
  await removeNamespace(app, namespace)
})

/** The key of the job that deletes a single project. While that job waits, the event has already been emitted. */
export const removalKey = (id: number) => `projects.remove ${id}`

export const removeRepositoryLater = job<{ dir: string }>('projects.remove_repository', async (_app, { dir }) =>
  removeRepository(dir),
)
