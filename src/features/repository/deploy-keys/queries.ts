import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { Master } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { guardedProject } from '../../projects/projects/queries.ts'
import type { EnabledKey } from './model.ts'

const enabledIn = (db: Db, project: number) =>
  db
    .selectFrom('deploy_key_projects as link')
    .innerJoin('keys as k', 'k.id', 'link.key_id')
    .selectAll('k')
    .select(['link.can_push', 'link.updated_at as linked_at'])
    .where('link.project_id', '=', project)

export const listEnabledKeys = (db: Db, project: number, page: PageRequest): Promise<Page<EnabledKey>> =>
  pageOfQuery(enabledIn(db, project).orderBy('k.id', 'desc'), page)

export async function findEnabledKey(db: Db, project: number, key: number): Promise<EnabledKey | null> {
  return (await enabledIn(db, project).where('k.id', '=', key).executeTakeFirst()) ?? null
}

export const deployKey = child(guardedProject, {
  key: 'key',
  params: { key_id: id },
  find: (app, { project }, { key_id }) => findEnabledKey(app.db, project.id, key_id),
})

export async function findAnyDeployKey(db: Db, id: number): Promise<Row<'keys'> | null> {
  const key = await db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', id)
    .where('kind', '=', 'deploy')
    .executeTakeFirst()
  return key ?? null
}

/** Public keys, and keys of projects that the viewer administers. The viewer may neither see nor enable other keys. */
export async function isWithinReach(db: Db, viewer: User, key: Row<'keys'>): Promise<boolean> {
  if (key.public || viewer.admin) return true
  const link = await db
    .selectFrom('deploy_key_projects as link')
    .innerJoin('project_authorizations as mine', 'mine.project_id', 'link.project_id')
    .select('link.id')
    .where('link.key_id', '=', key.id)
    .where('mine.user_id', '=', viewer.id)
    .where('mine.access_level', '>=', Master)
    .limit(1)
    .executeTakeFirst()
  return link !== undefined
}

export interface LinkedProject {
  readonly can_push: boolean
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly path: string
  readonly created_at: string
  readonly namespace_name: string
  readonly namespace_path: string
  /** Set for a personal namespace. */
  readonly owner_name: string | null
}

export interface KeyWithProjects extends Row<'keys'> {
  readonly projects: readonly LinkedProject[]
}

const projectsOf = hotQuery((db, p: { keys: string }) =>
  db
    .selectFrom('deploy_key_projects as link')
    .innerJoin('projects as p', 'p.id', 'link.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .leftJoin('users as owner', 'owner.id', 'n.owner_id')
    .select(['link.key_id', 'link.can_push', 'p.id', 'p.description', 'p.name', 'p.path', 'p.created_at'])
    .select(['n.full_name as namespace_name', 'n.full_path as namespace_path', 'owner.name as owner_name'])
    .where(inIdList(db, 'link.key_id', p.keys))
    .where('p.deleting', '=', false)
    .orderBy('p.id'),
)

async function withProjects(db: Db, keys: readonly Row<'keys'>[]): Promise<KeyWithProjects[]> {
  const ids = keys.map(({ id }) => id)
  const projects = ids.length === 0 ? [] : await projectsOf(db, { keys: idList(db, ids) })
  const byKey = Map.groupBy(projects, ({ key_id }) => key_id)
  return keys.map((key) => ({ ...key, projects: byKey.get(key.id) ?? [] }))
}

export async function listDeployKeys(
  db: Db,
  filter: { public?: boolean | null },
  page: PageRequest,
): Promise<Page<KeyWithProjects>> {
  const all = db.selectFrom('keys').selectAll().where('kind', '=', 'deploy')
  const found = filter.public ? all.where('public', '=', true) : all
  const { items, total } = await pageOfQuery(found.orderBy('id', 'desc'), page)
  return { total, items: await withProjects(db, items) }
}

const linkOf = hotQuery((db, p: { key_id: number; project_id: number }) =>
  db
    .selectFrom('deploy_key_projects')
    .select('can_push')
    .where('key_id', '=', p.key_id)
    .where('project_id', '=', p.project_id),
)

/** The access of a deploy key to a project. Null if the key is not enabled there. */
export async function deployKeyRight(db: Db, key: number, project: number): Promise<'read' | 'write' | null> {
  const [link] = await linkOf(db, { key_id: key, project_id: project })
  if (!link) return null
  return link.can_push ? 'write' : 'read'
}
