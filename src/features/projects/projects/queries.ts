import { sql } from 'kysely'
import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { once } from '../../../api/once.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { levelOnProject, openVisibilities } from '../../access/authorizations/queries.ts'
import { projectPolicy, type ProjectSubject } from './policy.ts'

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

/** By id, or by path in any case. All digits are an id, never a path. */
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

/** The project as it is now; null if it is gone or going. Nobody else changes it until the transaction ends. */
export async function holdProject(app: App, id: number): Promise<Project | null> {
  const project = await app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleting', '=', false)
    .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return project ?? null
}

/** The project as the viewer meets it, readable or not. */
export async function loadProjectSubject(app: App, project: Project, viewer: User | null): Promise<ProjectSubject> {
  const namespace = await findNamespaceById(app.db, project.namespace_id)
  return {
    project,
    namespace: namespace!,
    viewer,
    level: await levelOnProject(app.db, viewer, project.id),
    open: openVisibilities(viewer),
  }
}

/** By id or by path, readable or not; the same row is met once by the same viewer. */
export async function findProjectSubject(app: App, id: string, viewer: User | null): Promise<ProjectSubject | null> {
  const found = await findProject(app.db, id)
  return found && once(found, `met by ${viewer?.id}`, () => loadProjectSubject(app, found, viewer))
}

/** `/projects/:id`: by id or by path; hidden from whoever may not read it. */
export const project = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: projectPolicy,
  find: (app, { id }, viewer) => findProjectSubject(app, id, viewer),
})

/** The same for families where who may is settled before anything else is looked at. */
export const guardedProject = { ...project, abilityFirst: true }

export const pathWithNamespace = (project: Project, namespace: Namespace): string =>
  `${namespace.full_path}/${project.path}`

export const webUrlOf = ({ url }: App, { project, namespace }: { project: Project; namespace: Namespace }): string =>
  `${url}/${pathWithNamespace(project, namespace)}`
