/**
 * Sends events to the live connections that may see them. The number of queries does not depend on the number of
 * connections.
 */
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest, NoAccess, Owner } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { isOpenTo, levelOf, openVisibilities } from '../../access/authorizations/queries.ts'
import { eachWayInto } from '../../identity/namespaces/grants.ts'
import { userRows } from '../../identity/users/queries.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { groupMessage, projectMessage } from './catalogue.ts'
import { learnFacts } from './facts.ts'
import type { LoggedEvent } from './log.ts'
import { eventBlock } from './stream.ts'

export type LiveScope = { readonly project: number } | { readonly group: number } | { readonly user: number }

export interface Listener {
  readonly scope: LiveScope
  /** Null: anonymous. */
  readonly viewer: number | null
}

export interface Delivered<L> {
  readonly blocks: ReadonlyMap<L, string>
  /** Connections that are no longer allowed. */
  readonly ended: ReadonlySet<L>
}

const list = (db: Db, column: string, ids: Iterable<number>) => inIdList(db, column, idList(db, [...new Set(ids)]))

const userStates = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .select(['id', 'version'])
    .where(inIdList(db, 'id', p.ids)),
)

/** Hundreds of listeners hear of each event: only their versions are read each time. */
async function usersOf(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, User>> {
  if (ids.length === 0) return new Map()
  return userRows(db, await userStates(db, { ids: idList(db, ids) }))
}

async function projectsOf(db: Db, ids: readonly number[]): Promise<Map<number, Row<'projects'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('projects')
    .selectAll()
    .where(list(db, 'id', ids))
    .where('deleting', '=', false)
    .execute()
  return new Map(rows.map((project) => [project.id, project]))
}

/** `<user> <project>` → level. */
async function authorizationsOf(db: Db, users: readonly number[], projects: readonly number[]) {
  if (users.length === 0 || projects.length === 0) return new Map<string, number>()
  const rows = await db
    .selectFrom('project_authorizations')
    .select(['user_id', 'project_id', 'access_level'])
    .where(list(db, 'project_id', projects))
    .where(list(db, 'user_id', users))
    .execute()
  return new Map(rows.map(({ user_id, project_id, access_level }) => [`${user_id} ${project_id}`, access_level]))
}

/** `<user> <group>` → level. */
async function groupLevelsOf(db: Db, users: readonly number[], groups: readonly number[]) {
  if (users.length === 0 || groups.length === 0) return new Map<string, number>()
  const ways = eachWayInto(
    ({
      from,
      level,
    }) => sql`select m.user_id as user_id, a.namespace_id as group_id, ${level} as access_level from ${from}
      where ${list(db, 'm.user_id', users)} and ${list(db, 'a.namespace_id', groups)}`,
  )
  const { rows } = await sql<{ user_id: number; group_id: number; level: number }>`
    select user_id, group_id, max(access_level) as level from (${ways}) as granted group by user_id, group_id`.execute(
    db,
  )
  return new Map(rows.map(({ user_id, group_id, level }) => [`${user_id} ${group_id}`, Number(level)]))
}

/** The ancestor groups of each namespace, itself included. */
async function ancestorsOf(db: Db, namespaces: readonly number[]): Promise<Map<number, Set<number>>> {
  const above = new Map<number, Set<number>>()
  if (namespaces.length === 0) return above
  const rows = await db
    .selectFrom('namespace_ancestors')
    .select(['namespace_id', 'ancestor_id'])
    .where(list(db, 'namespace_id', namespaces))
    .execute()
  for (const { namespace_id, ancestor_id } of rows) {
    const known = above.get(namespace_id) ?? new Set()
    above.set(namespace_id, known.add(ancestor_id))
  }
  return above
}

const distinct = (ids: readonly (number | null)[]) => [...new Set(ids.filter((id) => id !== null))]

export async function deliver<L extends Listener>(
  app: App,
  events: readonly LoggedEvent[],
  listeners: readonly L[],
): Promise<Delivered<L>> {
  const { db } = app
  const ofGroups = events.filter(({ project_id, group_id }) => project_id === null && group_id !== null)
  const projectIds = distinct(events.map(({ project_id }) => project_id))
  const groupIds = distinct(ofGroups.map(({ group_id }) => group_id))
  const viewers = distinct(listeners.map(({ viewer }) => viewer))
  const groupViewers = distinct(listeners.map(({ scope, viewer }) => ('group' in scope ? viewer : null)))
  const [users, projects, levels, facts, groups, groupLevels] = await Promise.all([
    usersOf(db, viewers),
    projectsOf(db, projectIds),
    authorizationsOf(db, viewers, projectIds),
    learnFacts(app, events),
    namespacesOf(db, groupIds),
    groupLevelsOf(db, groupViewers, groupIds),
  ])
  const hasGroupListener = listeners.some(({ scope }) => 'group' in scope)
  const namespaces = [...groupIds, ...[...projects.values()].map(({ namespace_id }) => namespace_id)]
  const above = hasGroupListener ? await ancestorsOf(db, [...new Set(namespaces)]) : new Map<number, Set<number>>()

  const subjects = new Map<string, ProjectSubject>()
  const subjectOf = (viewerId: number | null, project: Row<'projects'>): ProjectSubject => {
    const key = `${viewerId} ${project.id}`
    const known = subjects.get(key)
    if (known) return known
    const viewer = viewerId === null ? null : (users.get(viewerId) ?? null)
    const level = levelOf(viewer, levels.get(key) ?? null)
    // No policy reads the namespace.
    const namespace = null as unknown as Row<'namespaces'>
    const subject = { project, namespace, viewer, level, open: openVisibilities(viewer) }
    subjects.set(key, subject)
    return subject
  }

  const blocks = new Map<L, string>()
  const ended = new Set<L>()
  const add = (listener: L, block: string) => blocks.set(listener, (blocks.get(listener) ?? '') + block)
  const isThere = ({ viewer }: L) => viewer === null || users.get(viewer)?.state === 'active'
  for (const listener of listeners) if (!isThere(listener)) ended.add(listener)

  const ofProject = Map.groupBy(
    listeners.filter(({ scope }) => 'project' in scope),
    ({ scope }) => (scope as { project: number }).project,
  )
  const wide = listeners.filter(({ scope }) => !('project' in scope))

  for (const event of events) {
    const payload = JSON.parse(event.payload) as Payload
    if (isOfTodos(event.name)) {
      const block = blockOf(event, payload.by, {})
      const whose = new Set(payload.user_ids)
      for (const listener of wide)
        if ('user' in listener.scope && !ended.has(listener) && whose.has(listener.scope.user)) add(listener, block)
    } else if (event.project_id !== null) {
      const project = projects.get(event.project_id)
      const message = project && projectMessage(event.name, payload, facts)
      const near = ofProject.get(event.project_id) ?? []
      if (!project) for (const listener of near) ended.add(listener)
      if (!message) continue
      const block = blockOf(event, payload.by, message.data)
      const reaches = ({ scope, viewer }: L) =>
        'group' in scope ? above.get(project.namespace_id)?.has(scope.group) : levels.has(`${viewer} ${project.id}`) // the projects of the viewer
      for (const listener of [...near, ...wide.filter(reaches)]) {
        if (ended.has(listener)) continue
        const subject = subjectOf(listener.viewer, project)
        const isReadable = projectPolicy.read(subject)
        if (isReadable && message.isSeen(subject)) add(listener, block)
        else if (!isReadable && 'project' in listener.scope) ended.add(listener)
      }
    } else if (event.group_id !== null) {
      const group = groups.get(event.group_id)
      const message = group && groupMessage(event.name, payload)
      if (!message) continue
      const block = blockOf(event, payload.by, message.data)
      for (const listener of wide) {
        const { scope, viewer: id } = listener
        if (!('group' in scope) || ended.has(listener) || !above.get(group.id)?.has(scope.group)) continue
        const viewer = id === null ? null : users.get(id)!
        const level = viewer?.admin ? Owner : (groupLevels.get(`${id} ${group.id}`) ?? NoAccess)
        const isOpen = message.level <= Guest && isOpenTo(viewer, group.visibility)
        if (isOpen || level >= message.level) add(listener, block)
      }
    }
  }
  return { blocks, ended }
}

interface Payload {
  readonly id?: number
  readonly user_id?: number
  readonly user_ids?: readonly number[]
  readonly by?: number | null
}

const isOfTodos = (name: string) => name === 'todo.created' || name === 'todo.done'

async function namespacesOf(db: Db, ids: readonly number[]): Promise<Map<number, Row<'namespaces'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(list(db, 'id', ids))
    .where('deleting', '=', false)
    .execute()
  return new Map(rows.map((group) => [group.id, group]))
}

function blockOf(
  { name, position, project_id, group_id, created_at }: LoggedEvent,
  by: number | null | undefined,
  data: object,
): string {
  const [kind, action] = name.split('.') as [string, string]
  const scope = project_id !== null ? { project_id } : group_id !== null ? { group_id } : {}
  return eventBlock(name, position, { kind, action, ...scope, ...data, at: created_at, by: by ?? null })
}
