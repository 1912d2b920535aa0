/**
 * The bin: a deleted project is hidden at once, and its name and path are free. Its owners can restore it until it is
 * due; then, or on demand, it is deleted for good.
 */
import { sql } from 'kysely'
import { DAY, HOUR, after, timestamp } from '../../../clock.ts'
import { job, type App, type TransactionApp, type User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import { isWider } from '../../../lib/levels.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { locksRows } from '../../../store/dialect.ts'
import { emit, emitAll } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { lockNamespace, lockPath } from '../paths/paths.ts'
import { inspectRepository } from '../repositories/inspection.ts'
import { repositoryDir } from '../repositories/repository.ts'
import { keepInspected } from './activity.ts'
import { PROVISIONING, type ImportStatus } from './model.ts'
import type { ProjectSubject } from './policy.ts'
import { lockProject, pathWithNamespace, type Namespace, type Project } from './queries.ts'
import { removalKey, removalOf, removeLater } from './removal.ts'
import { assertFree, assertWithinLimit, refusingDuplicates } from './service.ts'
import { assertValidProject } from './validation.ts'

/** What a deleted record is called, as in later releases. */
export const binSuffix = (id: number): string => `-deletion_scheduled-${id}`

/** The columns of a record that is not in the bin. */
export const NOT_IN_BIN = {
  marked_for_deletion_at: null,
  deletion_due_at: null,
  deleted_by_id: null,
  deleted_name: null,
  deleted_path: null,
  deleted_with_group_id: null,
}

/** The columns of a record that goes to the bin now, for so many days. */
export const binColumns = ({ clock }: App, { name, path }: { name: string; path: string }, by: User, days: number) => ({
  marked_for_deletion_at: timestamp(clock),
  deletion_due_at: after(clock, days * DAY),
  deleted_by_id: by.id,
  deleted_name: name,
  deleted_path: path,
})

export async function binProject(
  app: App,
  actor: User,
  { id }: Project,
  namespace: Namespace,
  days: number,
): Promise<void> {
  await transact(app, async (app) => {
    const project = await lockProject(app, id)
    if (!project) throw notFound('Project') // a concurrent request deleted the project
    const suffix = await freeSuffix(app, project)
    await app.db
      .updateTable('projects')
      .set({
        ...binColumns(app, project, actor, days),
        deleting: true,
        name: project.name + suffix,
        path: project.path + suffix,
        forked_from_id: null,
        forks_count: 0,
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', id)
      .execute()
    await unlinkForks(app, project)
    await emit(app, 'project.deleted', { ...removalOf(project, namespace), by: actor.id, in_bin: true })
  })
}

/** Users may have given another project the usual name of this one in the bin. */
async function freeSuffix(app: TransactionApp, { id, namespace_id, name, path }: Project): Promise<string> {
  const suffix = binSuffix(id)
  const taken = await app.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', namespace_id)
    .where((eb) => eb.or([eb('name', '=', name + suffix), eb(sql`lower(path)`, '=', (path + suffix).toLowerCase())]))
    .executeTakeFirst()
  return taken ? `${suffix}-${randomHex(16)}` : suffix
}

/** A restored project has neither a source nor forks. */
async function unlinkForks({ db }: TransactionApp, { id, forked_from_id }: Project): Promise<void> {
  await db.updateTable('projects').set({ forked_from_id: null }).where('forked_from_id', '=', id).execute()
  if (forked_from_id === null) return
  await db
    .updateTable('projects')
    .set((eb) => ({ forks_count: eb('forks_count', '-', 1) }))
    .where('id', '=', forked_from_id)
    .where('forks_count', '>', 0)
    .execute()
}

/** Hides the projects of a group that goes to the bin. Those that are hidden already were deleted by themselves. */
export async function binProjectsIn(app: TransactionApp, group: number, actor: User): Promise<void> {
  const { db } = app
  const projects = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('projects')
    .select(['namespaces.full_path', 'namespaces.kind'])
    .where('projects.namespace_id', 'in', treeOf(db, group))
    .where('projects.deleting', '=', false)
    .orderBy('projects.id')
    .execute()
  await db
    .updateTable('projects')
    .set({ deleting: true, deleted_with_group_id: group, updated_at: timestamp(app.clock) })
    .where('namespace_id', 'in', treeOf(db, group))
    .where('deleting', '=', false)
    .execute()
  const gone = db.selectFrom('projects').select('id').where('deleted_with_group_id', '=', group)
  await sql`update projects set forks_count = forks_count - (select count(*) from projects f
    where f.forked_from_id = projects.id and f.deleted_with_group_id = ${group})
    where id in (select forked_from_id from projects where deleted_with_group_id = ${group})`.execute(db)
  await db.updateTable('projects').set({ forked_from_id: null }).where('forked_from_id', 'in', gone).execute()
  await db
    .updateTable('projects')
    .set({ forked_from_id: null, forks_count: 0 })
    .where('deleted_with_group_id', '=', group)
    .where((eb) => eb.or([eb('forked_from_id', 'is not', null), eb('forks_count', '!=', 0)]))
    .execute()
  await emitAll(
    app,
    'project.deleted',
    projects.map(({ full_path, kind, ...project }) => ({
      ...removalOf(project, { full_path, kind }),
      by: actor.id,
      in_bin: true,
    })),
  )
}

/** The projects that were deleted with this group. */
export async function restoreProjectsOf(app: TransactionApp, group: number, actor: User): Promise<void> {
  const restored = await app.db
    .updateTable('projects')
    .set({
      deleting: false,
      deleted_with_group_id: null,
      // The deletion stopped an import.
      import_status: sql<ImportStatus>`case when import_status in (${sql.join(PROVISIONING)}) then 'failed'
        else import_status end`,
      updated_at: timestamp(app.clock),
    })
    .where('deleted_with_group_id', '=', group)
    .returning('id')
    .execute()
  const ids = restored.map(({ id }) => id).toSorted((one, other) => one - other)
  await emitAll(
    app,
    'project.restored',
    ids.map((id) => ({ id, by: actor.id })),
  )
}

/** A new name and path are needed if others have taken the old ones. */
export interface RestoreInput {
  name?: string | null | undefined
  path?: string | null | undefined
}

export async function restoreProject(app: App, actor: User, { id }: Project, input: RestoreInput): Promise<Project> {
  const restored = await refusingDuplicates(
    {},
    transact(app, async (app) => {
      const project = await lockBinned(app, id)
      if (!project) throw new Refusal('bad_request', 'Project has not been marked for deletion')
      const namespace = await lockNamespace(app, project.namespace_id)
      if (!namespace) throw new Refusal('bad_request', 'The group of the project is deleted. Restore the group first.')
      await assertWithinLimit(app, namespace)
      const name = input.name ?? project.deleted_name!
      const path = input.path ?? project.deleted_path!
      assertValidProject({ name: input.name ?? undefined, path: input.path ?? undefined })
      await lockPath(app, `${namespace.full_path}/${path}`)
      await assertFree(app, namespace, { id, name, path })
      const restored = await app.db
        .updateTable('projects')
        .set({
          ...NOT_IN_BIN,
          deleting: false,
          name,
          path,
          // The group may have become less visible meanwhile.
          ...(namespace.kind === 'group' &&
            isWider(project.visibility, namespace.visibility) && { visibility: namespace.visibility }),
          // The deletion stopped an import.
          ...(PROVISIONING.includes(project.import_status) && {
            import_status: 'failed' as const,
            import_error: 'The project was deleted during the import',
          }),
          updated_at: timestamp(app.clock),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
      await refreshAuthorizations(app, { project: id })
      await emit(app, 'project.restored', { id, by: actor.id })
      return restored
    }),
  )
  return noteLatePush(app, restored)
}

async function lockBinned(app: TransactionApp, id: number): Promise<Project | null> {
  const project = await app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleting', '=', true)
    .where('marked_for_deletion_at', 'is not', null)
    .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return project ?? null
}

/** A push that ran during the deletion may have changed the repository after the row was hidden. */
async function noteLatePush(app: App, project: Project): Promise<Project> {
  await keepInspected(app, project, await inspectRepository(repositoryDir(app, project), project.default_branch))
  return app.db.selectFrom('projects').selectAll().where('id', '=', project.id).executeTakeFirstOrThrow()
}

/** Deletes a project in the bin for good. Its full path confirms the request, with or without the suffix. */
export async function purgeProject(app: App, { project, namespace }: ProjectSubject, fullPath: string | null) {
  if (!project.deleting) throw new Refusal('bad_request', 'Project must be marked for deletion first.')
  const paths = [project.path, project.deleted_path!].map((path) => pathWithNamespace({ path }, namespace))
  if (fullPath === null || !paths.includes(fullPath)) {
    throw new Refusal('bad_request', '`full_path` is incorrect. You must enter the complete path for the project.')
  }
  if (!(await takeFromBin(app, project.id))) throw notFound('Project')
}

/** From now on nobody can restore the project. False if it is no longer in the bin. */
async function takeFromBin(app: App, id: number, dueBy?: string): Promise<boolean> {
  return transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('projects')
      .set({ marked_for_deletion_at: null, deletion_due_at: null, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .where('deleting', '=', true)
      .where('marked_for_deletion_at', 'is not', null)
      .$if(dueBy !== undefined, (query) => query.where('deletion_due_at', '<=', dueBy!))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await enqueue(app, removeLater, { id }, { key: removalKey(id) })
    return true
  })
}

const PROJECTS_A_TURN = 100

export const emptyBin = job<object>(
  'projects.empty_bin',
  async (app) => {
    for (;;) {
      const now = timestamp(app.clock)
      const due = await app.db
        .selectFrom('projects')
        .select('id')
        .where('deletion_due_at', '<=', now)
        .orderBy('deletion_due_at')
        .limit(PROJECTS_A_TURN)
        .execute()
      for (const { id } of due) await takeFromBin(app, id, now)
      if (due.length < PROJECTS_A_TURN) return
    }
  },
  { every: HOUR },
)
