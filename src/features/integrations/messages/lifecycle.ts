/**
 * Messages about created and deleted projects, groups, members, users and keys: for system hooks, and some for group
 * hooks.
 */
import type { App, User } from '../../../context.ts'
import { Owner } from '../../../lib/levels.ts'
import type { Events, Row } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { findUser, withUsers } from '../../identity/users/queries.ts'
import { findNamespaceById, findProjectById, type Namespace, type Project } from '../../projects/projects/queries.ts'
import { SYSTEM, source, groupMessage, instanceMessage } from './message.ts'
import { HIDDEN_EMAIL } from './shared.ts'

/** For every system hook. */
const systemMessage = (body: { readonly event_name: string }): EventMessage => instanceMessage(body.event_name, body)

interface Times {
  readonly created_at: string
  readonly updated_at: string
}

const timesOf = ({ created_at, updated_at }: Times) => ({ created_at, updated_at })

/**
 * The nearest ancestor group that remains: the hooks of a deleted group are deleted before they could receive a
 * message.
 */
async function remainingGroup({ db }: App, namespace: number | null): Promise<number | null> {
  if (namespace === null) return null
  const found = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select('n.id')
    .where('a.namespace_id', '=', namespace)
    .where('n.kind', '=', 'group')
    .where('n.deleting', '=', false)
    .orderBy('a.depth')
    .limit(1)
    .executeTakeFirst()
  return found?.id ?? null
}

// Projects

type VisibleProject = Pick<
  Project,
  'id' | 'name' | 'path' | 'namespace_id' | 'visibility' | 'created_at' | 'updated_at'
> & { readonly path_with_namespace: string }

async function visibleProject(app: App, id: number): Promise<VisibleProject | null> {
  const project = await findProjectById(app.db, id)
  const namespace = project && (await findNamespaceById(app.db, project.namespace_id))
  return project && namespace && { ...project, path_with_namespace: `${namespace.full_path}/${project.path}` }
}

const MOST_OWNERS = 100

async function ownersOf({ db }: App, namespace: Namespace | null): Promise<User[]> {
  if (!namespace) return []
  if (namespace.owner_id !== null) {
    const owner = await findUser(db, namespace.owner_id)
    return owner ? [owner] : []
  }
  const members = await db
    .selectFrom('members')
    .innerJoin('namespace_ancestors as a', 'a.ancestor_id', 'members.group_id')
    .select('members.user_id')
    .where('a.namespace_id', '=', namespace.id)
    .where('members.access_level', '=', Owner)
    .orderBy('members.id')
    .limit(MOST_OWNERS)
    .execute()
  const ids = [...new Set(members.map(({ user_id }) => user_id))]
  const named = await withUsers(
    db,
    ids.map((id) => ({ id })),
    { user: 'id' },
  )
  return named.flatMap(({ user }) => user ?? [])
}

async function projectBody(app: App, event_name: string, project: VisibleProject, more: object = {}) {
  const namespace = await findNamespaceById(app.db, project.namespace_id)
  const owners = await ownersOf(app, namespace)
  const isPersonal = namespace?.owner_id != null && owners.length > 0
  return {
    event_name,
    ...timesOf(project),
    name: project.name,
    path: project.path,
    path_with_namespace: project.path_with_namespace,
    project_id: project.id,
    owner_name: isPersonal ? owners[0]!.name : (namespace?.name ?? ''),
    // A group has no mail address.
    owner_email: isPersonal ? HIDDEN_EMAIL : '',
    owners: owners.map(({ name }) => ({ name, email: HIDDEN_EMAIL })),
    project_namespace_id: project.namespace_id,
    project_visibility: project.visibility,
    ...more,
  }
}

async function projectMessages(app: App, event_name: string, project: VisibleProject | null, more: object = {}) {
  return project ? [systemMessage(await projectBody(app, event_name, project, more))] : []
}

/** Group hooks receive created and deleted projects. */
async function projectInNamespace(
  app: App,
  event_name: string,
  project: VisibleProject | null,
): Promise<EventMessage[]> {
  if (!project) return []
  const body = await projectBody(app, event_name, project)
  const group = await remainingGroup(app, project.namespace_id)
  if (group === null) return [systemMessage(body)]
  const { owner_name: _name, owner_email: _email, ...rest } = body
  return [systemMessage(body), groupMessage(event_name, 'project_events', group, rest)]
}

async function projectCreated(app: App, { id }: Events['project.created']): Promise<EventMessage[]> {
  return [
    ...(await projectInNamespace(app, 'project_create', await visibleProject(app, id))),
    ...(await personalOwner(app, id)),
  ]
}

/** The owner of a personal namespace becomes a member of each new project in it. */
async function personalOwner(app: App, project_id: number): Promise<EventMessage[]> {
  const member = await app.db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .innerJoin('members', (join) =>
      join.onRef('members.project_id', '=', 'projects.id').onRef('members.user_id', '=', 'namespaces.owner_id'),
    )
    .selectAll('members')
    .where('projects.id', '=', project_id)
    .executeTakeFirst()
  return member ? memberMessages(app, 'add', member) : []
}

async function projectUpdated(app: App, { id, old_path }: Events['project.updated']): Promise<EventMessage[]> {
  const project = await visibleProject(app, id)
  if (old_path === undefined) return projectMessages(app, 'project_update', project)
  return projectMessages(app, 'project_rename', project, { old_path_with_namespace: old_path })
}

async function projectTransferred(app: App, { id, old_path, owner_added }: Events['project.transferred']) {
  const project = await visibleProject(app, id)
  const moved = await projectMessages(app, 'project_transfer', project, { old_path_with_namespace: old_path })
  return owner_added ? [...moved, ...(await personalOwner(app, id))] : moved
}

// Members

type VisibleMember = Pick<
  Row<'members'>,
  'group_id' | 'project_id' | 'user_id' | 'access_level' | 'expires_at' | 'created_at' | 'updated_at'
>

const ROLES = new Map([
  [5, 'Minimal Access'],
  [10, 'Guest'],
  [15, 'Planner'],
  [20, 'Reporter'],
  [30, 'Developer'],
  [40, 'Maintainer'],
  [50, 'Owner'],
])

const personOf = (user: User) => ({
  user_username: user.username,
  user_name: user.name,
  user_email: HIDDEN_EMAIL,
  user_id: user.id,
})

const EVENT_NAMES = {
  add: ['user_add_to_team', 'user_add_to_group'],
  update: ['user_update_for_team', 'user_update_for_group'],
  remove: ['user_remove_from_team', 'user_remove_from_group'],
  request: ['user_access_request_to_project', 'user_access_request_to_group'],
  revoke: ['user_access_request_revoked_for_project', 'user_access_request_revoked_for_group'],
} as const

async function memberMessages(
  app: App,
  what: keyof typeof EVENT_NAMES,
  member: VisibleMember,
): Promise<EventMessage[]> {
  const user = await findUser(app.db, member.user_id)
  if (!user) return []
  const [ofProject, ofGroup] = EVENT_NAMES[what]
  const role = ROLES.get(member.access_level) ?? String(member.access_level)
  if (member.project_id !== null) {
    const project = await visibleProject(app, member.project_id)
    if (!project) return []
    const body = {
      event_name: ofProject,
      ...timesOf(member),
      project_name: project.name,
      project_path: project.path,
      project_path_with_namespace: project.path_with_namespace,
      project_id: project.id,
      ...personOf(user),
      access_level: role,
      expires_at: member.expires_at,
      project_visibility: project.visibility,
    }
    return [systemMessage(body)]
  }
  const group = await findNamespaceById(app.db, member.group_id!)
  if (!group) return []
  const body = {
    event_name: ofGroup,
    ...timesOf(member),
    group_name: group.name,
    group_path: group.path,
    group_id: group.id,
    ...personOf(user),
    group_access: role,
    expires_at: member.expires_at,
  }
  return [systemMessage(body), groupMessage(ofGroup, 'member_events', group.id, { ...body, group_plan: null })]
}

/** The default level of an accepted access request. */
const REQUESTED_LEVEL = 30

const requestMessages = (app: App, what: 'request' | 'revoke', request: Events['access_request.made']) =>
  memberMessages(app, what, {
    ...request,
    access_level: REQUESTED_LEVEL,
    expires_at: null,
    created_at: request.requested_at,
    updated_at: request.requested_at,
  })

/** The bot user of a project or group token becomes a member with its first token. */
async function botAdded(app: App, { id }: Events['token.created']): Promise<EventMessage[]> {
  const member = await app.db
    .selectFrom('access_tokens as t')
    .innerJoin('resource_bots as b', 'b.user_id', 't.user_id')
    .innerJoin('members', 'members.user_id', 'b.user_id')
    .selectAll('members')
    .where('t.id', '=', id)
    .where('t.family_id', 'is', null)
    .executeTakeFirst()
  return member ? memberMessages(app, 'add', member) : []
}

// Groups

const groupBody = (event_name: string, group: Namespace, more: object = {}) => ({
  event_name,
  ...timesOf(group),
  name: group.name,
  path: group.path,
  full_path: group.full_path,
  group_id: group.id,
  owner_name: null,
  owner_email: null,
  ...more,
})

async function subgroupMessages(app: App, event_name: string, group: Namespace): Promise<EventMessage[]> {
  const parent = group.parent_id === null ? null : await findNamespaceById(app.db, group.parent_id)
  const hearer = parent && (await remainingGroup(app, parent.id))
  if (!parent || hearer === null) return []
  const body = {
    event_name,
    ...timesOf(group),
    name: group.name,
    path: group.path,
    full_path: group.full_path,
    group_id: group.id,
    parent_group_id: parent.id,
    parent_name: parent.name,
    parent_path: parent.path,
    parent_full_path: parent.full_path,
  }
  return [groupMessage(event_name, 'subgroup_events', hearer, body)]
}

async function groupCreated(app: App, { id, by }: Events['group.created']): Promise<EventMessage[]> {
  const group = await findNamespaceById(app.db, id)
  if (!group) return []
  const founder = await app.db
    .selectFrom('members')
    .selectAll()
    .where('group_id', '=', id)
    .where('user_id', '=', by)
    .executeTakeFirst()
  return [
    systemMessage(groupBody('group_create', group)),
    ...(await subgroupMessages(app, 'subgroup_create', group)),
    ...(founder ? await memberMessages(app, 'add', founder) : []),
  ]
}

/** Includes all descendants that are back, the deepest last. */
async function groupRestored(app: App, { id }: Events['group.restored']): Promise<EventMessage[]> {
  const messages: EventMessage[] = []
  for (const group of (await groupsBelow(app, id)).toReversed()) {
    if (group.deleting) continue
    messages.push(systemMessage(groupBody('group_create', group)))
    messages.push(...(await subgroupMessages(app, 'subgroup_create', group)))
  }
  return messages
}

/** Includes all descendants, the deepest first. */
async function groupDeleted(app: App, { id }: Events['group.deleted']): Promise<EventMessage[]> {
  const messages: EventMessage[] = []
  for (const group of await groupsBelow(app, id)) {
    messages.push(systemMessage(groupBody('group_destroy', group)))
    messages.push(...(await subgroupMessages(app, 'subgroup_destroy', group)))
  }
  return messages
}

/** The group and all its descendants, the deepest first, without those that were deleted before it. */
async function groupsBelow(app: App, id: number): Promise<Namespace[]> {
  return app.db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces', 'namespaces.id', 'a.namespace_id')
    .selectAll('namespaces')
    .where('a.ancestor_id', '=', id)
    .where('namespaces.marked_for_deletion_at', 'is', null)
    .where((eb) => eb.or([eb('deleted_with_group_id', 'is', null), eb('deleted_with_group_id', '=', id)]))
    .orderBy('a.depth', 'desc')
    .orderBy('namespaces.id')
    .execute()
}

/** Also sent after a transfer to another group, which changes the path. */
async function groupRenamed(app: App, id: number, old_full_path: string | undefined): Promise<EventMessage[]> {
  const group = old_full_path === undefined ? null : await findNamespaceById(app.db, id)
  if (!group || old_full_path === undefined) return []
  return [systemMessage(groupBody('group_rename', group, { old_path: old_full_path.split('/').at(-1), old_full_path }))]
}

// Users and keys

const userBody = (event_name: string, user: Pick<User, 'id' | 'name' | 'email' | 'username'> & Times, more = {}) => ({
  event_name,
  ...timesOf(user),
  name: user.name,
  email: user.email,
  user_id: user.id,
  username: user.username,
  ...more,
})

async function userMessages(app: App, event_name: string, id: number, more?: (user: User) => object) {
  const user = await findUser(app.db, id)
  return user ? [systemMessage(userBody(event_name, user, more?.(user)))] : []
}

type VisibleKey = Pick<Row<'keys'>, 'id' | 'key' | 'created_at' | 'updated_at'>

async function keyMessages(app: App, event_name: string, key: VisibleKey, user_id: number | null) {
  const user = user_id === null ? null : await findUser(app.db, user_id)
  const holder = user ? { username: user.username } : {}
  const body = { event_name, ...timesOf(key), ...holder, key: key.key, id: key.id }
  return [systemMessage(body)]
}

async function keyCreated(app: App, { id }: { id: number }): Promise<EventMessage[]> {
  const key = await app.db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst()
  return key ? keyMessages(app, 'key_create', key, key.user_id) : []
}

export const lifecycleSources = [
  source('project.created', [SYSTEM, 'project_events'], projectCreated),
  source('project.restored', [SYSTEM, 'project_events'], async (app, { id }) =>
    projectInNamespace(app, 'project_create', await visibleProject(app, id)),
  ),
  source('project.updated', [SYSTEM], projectUpdated),
  source('project.transferred', [SYSTEM], projectTransferred),
  source('project.deleted', [SYSTEM, 'project_events'], (app, gone) =>
    projectInNamespace(app, 'project_destroy', gone),
  ),
  source('member.added', [SYSTEM, 'member_events'], (app, member) => memberMessages(app, 'add', member)),
  source('member.changed', [SYSTEM, 'member_events'], (app, member) => memberMessages(app, 'update', member)),
  source('member.removed', [SYSTEM, 'member_events'], (app, member) => memberMessages(app, 'remove', member)),
  source('access_request.made', [SYSTEM, 'member_events'], (app, event) => requestMessages(app, 'request', event)),
  source('access_request.denied', [SYSTEM, 'member_events'], (app, event) => requestMessages(app, 'revoke', event)),
  source('access_request.withdrawn', [SYSTEM, 'member_events'], (app, event) => requestMessages(app, 'revoke', event)),
  source('token.created', [SYSTEM, 'member_events'], botAdded),
  source('group.created', [SYSTEM, 'subgroup_events', 'member_events'], groupCreated),
  source('group.restored', [SYSTEM, 'subgroup_events'], groupRestored),
  source('group.updated', [SYSTEM], (app, { id, old_full_path }) => groupRenamed(app, id, old_full_path)),
  source('group.transferred', [SYSTEM], (app, { id, old_full_path }) => groupRenamed(app, id, old_full_path)),
  source('group.deleted', [SYSTEM, 'subgroup_events'], groupDeleted),
  source('user.created', [SYSTEM], (app, { id }) => userMessages(app, 'user_create', id)),
  source('user.updated', [SYSTEM], async (app, { id, old_username }) =>
    old_username === undefined ? [] : userMessages(app, 'user_rename', id, () => ({ old_username })),
  ),
  source('user.sign_in_refused', [SYSTEM], (app, { id }) =>
    userMessages(app, 'user_failed_login', id, ({ state }) => ({ state })),
  ),
  source('user.deleted', [SYSTEM], async (_app, user) => [systemMessage(userBody('user_destroy', user))]),
  source('key.created', [SYSTEM], keyCreated),
  source('deploy_key.created', [SYSTEM], keyCreated),
  source('key.deleted', [SYSTEM], (app, key) => keyMessages(app, 'key_destroy', key, key.user_id)),
  source('deploy_key.deleted', [SYSTEM], (app, key) => keyMessages(app, 'key_destroy', key, null)),
]
