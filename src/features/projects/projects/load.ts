/** Projects with everything their records tell, in a fixed number of queries however many there are. */
import type { App, User } from '../../../context.ts'
import { Guest, Master, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { levelsOnProjects, openVisibilities } from '../../access/authorizations/queries.ts'
import {
  presentProject,
  presentSimpleProject,
  type Addresses,
  type LoadedProject,
  type PlacedProject,
  type ProjectRecord,
  type RecordWish,
  type SimpleProjectRecord,
} from './entity.ts'
import type { Project } from './queries.ts'

const namespacesOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('namespaces')
    .selectAll()
    .where(inIdList(db, 'id', p.ids)),
)
const usersOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(inIdList(db, 'id', p.ids)),
)
const topicsOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('project_topics')
    .selectAll()
    .where(inIdList(db, 'project_id', p.ids))
    .orderBy('position'),
)
const sharesOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('project_shares as s')
    .innerJoin('namespaces as n', 'n.id', 's.group_id')
    .select(['s.project_id', 's.group_id', 's.group_access', 's.expires_at'])
    .select(['n.name', 'n.full_path', 'n.visibility'])
    .where(inIdList(db, 's.project_id', p.ids))
    .where('n.deleting', '=', false)
    .orderBy('s.id'),
)
const projectsOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('projects')
    .selectAll()
    .where(inIdList(db, 'id', p.ids))
    .where('deleting', '=', false),
)
const membershipsOf = hotQuery((db, p: { user_id: number; projects: string; groups: string }) =>
  db
    .selectFrom('members')
    .select(['project_id', 'group_id', 'access_level', 'notification_level'])
    .where('user_id', '=', p.user_id)
    .where((eb) => eb.or([inIdList(db, 'project_id', p.projects), inIdList(db, 'group_id', p.groups)])),
)

const group = <T>(rows: readonly T[], key: (row: T) => number | null): Map<number, T[]> => {
  const groups = new Map<number, T[]>()
  for (const row of rows) {
    const id = key(row)
    if (id === null) continue
    const known = groups.get(id)
    if (known) known.push(row)
    else groups.set(id, [row])
  }
  return groups
}

const distinct = (db: Db, ids: Iterable<number | null>): string =>
  idList(db, [...new Set([...ids].filter((id) => id !== null))])

export async function placeProjects(db: Db, projects: readonly Project[]): Promise<PlacedProject[]> {
  if (projects.length === 0) return []
  const namespaces = await namespacesOf(db, {
    ids: distinct(
      db,
      projects.map((project) => project.namespace_id),
    ),
  })
  const byId = new Map(namespaces.map((namespace) => [namespace.id, namespace]))
  const personal = namespaces.map(({ owner_id }) => owner_id).filter((id) => id !== null)
  const owners = personal.length === 0 ? [] : await usersOf(db, { ids: distinct(db, personal) })
  const ownerById = new Map(owners.map((owner) => [owner.id, owner]))
  const ids = distinct(
    db,
    projects.map(({ id }) => id),
  )
  const topics = group(await topicsOf(db, { ids }), ({ project_id }) => project_id)
  return projects.map((project) => {
    const namespace = byId.get(project.namespace_id)!
    return {
      project,
      namespace,
      owner: ownerById.get(namespace.owner_id ?? 0) ?? null,
      topics: (topics.get(project.id) ?? []).map(({ name }) => name),
    }
  })
}

export async function loadProjects(
  db: Db,
  viewer: User | null,
  projects: readonly Project[],
): Promise<LoadedProject[]> {
  if (projects.length === 0) return []
  const placed = await placeProjects(db, projects)
  const ids = distinct(
    db,
    projects.map(({ id }) => id),
  )
  const shares = group(await sharesOf(db, { ids }), ({ project_id }) => project_id)
  const sources = await loadSources(db, viewer, projects)
  const levels = await levelsOnProjects(
    db,
    viewer,
    projects.map(({ id }) => id),
  )
  const groups = distinct(
    db,
    projects.map(({ namespace_id }) => namespace_id),
  )
  const memberships = viewer ? await membershipsOf(db, { user_id: viewer.id, projects: ids, groups }) : []
  const ofProject = group(memberships, ({ project_id }) => project_id)
  const ofGroup = group(memberships, ({ group_id }) => group_id)
  const membership = (known: typeof ofProject, id: number) => {
    const [row] = known.get(id) ?? []
    return row ? { access_level: row.access_level, notification_level: row.notification_level } : null
  }
  const open = openVisibilities(viewer)
  // A private group's name is told to people of the project only.
  const sharesOfOne = (id: number) =>
    (shares.get(id) ?? []).filter(({ visibility }) => levels(id) >= Guest || open.includes(visibility))
  return placed.map((one) => ({
    ...one,
    level: levels(one.project.id),
    shares: sharesOfOne(one.project.id),
    source: sources.get(one.project.forked_from_id ?? 0) ?? null,
    memberOfProject: membership(ofProject, one.project.id),
    memberOfGroup: membership(ofGroup, one.project.namespace_id),
  }))
}

/** Of forks, and only where the viewer may read the source. */
async function loadSources(
  db: Db,
  viewer: User | null,
  forks: readonly Project[],
): Promise<Map<number, PlacedProject>> {
  const ids = forks.map(({ forked_from_id }) => forked_from_id).filter((id) => id !== null)
  if (ids.length === 0) return new Map()
  const sources = await projectsOf(db, { ids: distinct(db, ids) })
  const levels = await levelsOnProjects(
    db,
    viewer,
    sources.map(({ id }) => id),
  )
  const open = openVisibilities(viewer)
  const seen = sources.filter(({ id, visibility }) => open.includes(visibility) || levels(id) >= Guest)
  return new Map((await placeProjects(db, seen)).map((one) => [one.project.id, one]))
}

export function addresses(app: App): Addresses {
  const { sshUrl, sshPort } = app.config
  if (sshUrl === '') return { url: app.url, ssh: null }
  const { hostname, port } = new URL(sshUrl ?? `ssh://${new URL(app.url).hostname}:${sshPort ?? 22}`)
  const ssh = port === '' || port === '22' ? `git@${hostname}:` : `ssh://git@${hostname}:${port}/`
  return { url: app.url, ssh }
}

export interface PageRecordWish {
  simple?: boolean | null | undefined
  statistics?: boolean | null | undefined
}

/** A page of records; visitors get the short one. */
export async function presentProjects(
  app: App,
  viewer: User | null,
  projects: readonly Project[],
  wish: PageRecordWish = {},
): Promise<(ProjectRecord | SimpleProjectRecord)[]> {
  const at = addresses(app)
  if (!viewer || wish.simple) {
    return (await placeProjects(app.db, projects)).map((one) => presentSimpleProject(one, at))
  }
  const loaded = await loadProjects(app.db, viewer, projects)
  return loaded.map((one) =>
    presentProject(one, at, { permissions: true, statistics: Boolean(wish.statistics) && one.level >= Reporter }),
  )
}

/** One full record; its secrets for those who administer it, where the answer is one that may hold them. */
export async function presentOneProject(
  app: App,
  viewer: User,
  project: Project,
  wish: Pick<RecordWish, 'permissions' | 'statistics'> & { secrets?: boolean } = {},
): Promise<ProjectRecord> {
  const [loaded] = await loadProjects(app.db, viewer, [project])
  const { permissions = false, statistics = false, secrets = false } = wish
  return presentProject(loaded!, addresses(app), {
    permissions,
    statistics: statistics && loaded!.level >= Reporter,
    ...(secrets && loaded!.level >= Master && { runnersToken: app.vault.open(project.runners_token_sealed) }),
  })
}
