import { sql } from 'kysely'
import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { oncePerPage } from '../../../lib/async/page-reads.ts'
import type { Db, Row } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { cachedRows } from '../../../store/versions.ts'
import { levelOf, levelOnProject, openVisibilities } from '../../access/authorizations/queries.ts'
import { isArchived, projectPolicy, type ProjectSubject } from './policy.ts'
import { findProjectVersion, type ProjectVersion } from './versions.ts'

export type Project = Row<'projects'>
export type Namespace = Row<'namespaces'>

const projectById = hotQuery((db, p: { id: number }) =>
  db.selectFrom('projects').selectAll().where('id', '=', p.id).where('deleting', '=', false),
)

const projectByPath = hotQuery((db, p: { namespace: string; path: string }) =>
  db
    .selectFrom('namespaces')
    .innerJoin('projects', 'projects.namespace_id', 'namespaces.id')
    .selectAll('projects')
    .where(sql`lower(namespaces.full_path)`, '=', p.namespace)
    .where(sql`lower(projects.path)`, '=', p.path)
    .where('projects.deleting', '=', false),
)

const namespaceById = hotQuery((db, p: { id: number }) =>
  db.selectFrom('namespaces').selectAll().where('id', '=', p.id),
)

export async function findNamespaceById(db: Db, id: number): Promise<Namespace | null> {
  if (!Number.isSafeInteger(id)) return null
  return (await namespaceById(db, { id }))[0] ?? null
}

/** Finds by id, or by path in any case. A number is always an id, never a path. */
export async function findProject(db: Db, given: string): Promise<Project | null> {
  if (/^\d+$/.test(given)) return findProjectById(db, Number(given))
  const [, namespace, path] = /^(.+)\/([^/]+)$/.exec(given.toLowerCase()) ?? []
  if (namespace === undefined || path === undefined) return null
  return (await projectByPath(db, { namespace, path }))[0] ?? null
}

export async function findProjectById(db: Db, id: number): Promise<Project | null> {
  if (!Number.isSafeInteger(id)) return null
  return (await projectById(db, { id }))[0] ?? null
}

/**
 * The current project, or null if it is deleted or being deleted. Until the transaction ends, no other transaction
 * changes it.
 */
export async function lockProject(app: TransactionApp, id: number): Promise<Project | null> {
  const project = await app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleting', '=', false)
    .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return project ?? null
}

/** The project with the viewer's access, readable or not. */
export async function loadProjectSubject({ db }: App, project: Project, viewer: User | null): Promise<ProjectSubject> {
  const [namespace, level] = await Promise.all([
    findNamespaceById(db, project.namespace_id),
    levelOnProject(db, viewer, project.id),
  ])
  return { project, namespace: namespace!, viewer, level, open: openVisibilities(viewer) }
}

export const projectRows = cachedRows('projects')
export const namespaceRows = cachedRows('namespaces')

export interface VersionedProject extends ProjectSubject {
  readonly versionKey: ProjectVersion
}

/** Finds by id or path, readable or not. */
export async function findProjectSubject(
  app: App,
  id: string,
  viewer: User | null,
  binned?: { binned_too: true },
): Promise<VersionedProject | null> {
  const key = `project ${id} of ${viewer?.id ?? 0}`
  const found = await oncePerPage(app, key, () => readProjectSubject(app.db, id, viewer))
  return found && (!found.project.deleting || binned) ? found : null
}

/** Also finds projects in the bin: the path of a project in the bin belongs to no other. */
async function readProjectSubject(db: Db, id: string, viewer: User | null): Promise<VersionedProject | null> {
  const versionKey = await findProjectVersion(db, viewer, id, { binned_too: true })
  if (!versionKey) return null
  const [projects, namespaces] = await Promise.all([
    projectRows(db, [versionKey]),
    namespaceRows(db, [{ id: versionKey.namespace_id, version: versionKey.namespace_version }]),
  ])
  const project = projects.get(versionKey.id)
  const namespace = namespaces.get(versionKey.namespace_id)
  if (!project || !namespace) return null
  if (project.deleting && project.marked_for_deletion_at === null) return null // deleted meanwhile
  return {
    project,
    namespace,
    viewer,
    level: levelOf(viewer, versionKey.access_level),
    open: openVisibilities(viewer),
    versionKey,
  }
}

/** `/projects/:id`: by id or path. Answers 404 to viewers who may not read the project. */
export const project = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: projectPolicy,
  isReadOnly: isArchived,
  find: (app, { id }, viewer) => findProjectSubject(app, id, viewer),
})

/** Also finds projects in the bin, for their owners and for administrators. The endpoint decides whether it shows them. */
export const projectOrBinned = {
  ...project,
  async find(app: App, { id }: { id: string }, viewer: User | null): Promise<VersionedProject | null> {
    const subject = await findProjectSubject(app, id, viewer, { binned_too: true })
    return subject?.project.deleting && !projectPolicy.own(subject) ? null : subject
  },
}

/** The same for families that check the permission before anything else. */
export const guardedProject = { ...project, abilityFirst: true }

export const pathWithNamespace = (project: Pick<Project, 'path'>, namespace: Pick<Namespace, 'full_path'>): string =>
  `${namespace.full_path}/${project.path}`

export const webUrlOf = (
  { url }: Pick<App, 'url'>,
  { project, namespace }: { project: Pick<Project, 'path'>; namespace: Pick<Namespace, 'full_path'> },
): string => `${url}/${pathWithNamespace(project, namespace)}`
