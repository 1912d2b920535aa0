/**
 * Labels, milestones and boards belong to projects and to groups. A family declares an endpoint once for both scopes:
 * `/projects/:id/…` and `/groups/:id/…`.
 */
import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import { policy, resource, type Endpoint, type Policy, type Resource } from '../../api/endpoint.ts'
import { text } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { Reporter } from '../../lib/levels.ts'
import type { Db, Row } from '../../store/database.ts'
import { group } from '../groups/groups/queries.ts'
import { treeOf } from '../identity/namespaces/queries.ts'
import { hasFeature } from '../projects/projects/policy.ts'
import { project } from '../projects/projects/queries.ts'

/** The columns of a scope: exactly one of the two is set. */
export interface ScopeColumns {
  readonly project_id: number | null
  readonly group_id: number | null
}

/** A project in its namespace, or a group. A project subject fits, too. */
export interface ScopeRow {
  readonly project: { readonly id: number } | null
  /** The group itself, or the namespace of the project. */
  readonly namespace: { readonly id: number }
}

/** The same, for one viewer. */
export interface ScopeSubject extends ScopeRow {
  readonly project: Row<'projects'> | null
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
  readonly level: number
  /** Whether the viewer may see these features; groups have no such settings. */
  readonly issues: boolean
  readonly mergeRequests: boolean
}

/** Without issues and merge requests there is nothing to plan. */
export const hasWork = (s: ScopeSubject) => s.issues || s.mergeRequests
const isOpen = (s: ScopeSubject) => !s.project?.archived

const scopePolicy = policy<ScopeSubject>()({
  /** `find` already returns null if the viewer may not read the scope. */
  read: () => true,
  /** Change labels and milestones. */
  plan: (s) => hasWork(s) && s.level >= Reporter && isOpen(s),
  readMilestones: hasWork,
  readBoards: (s) => s.issues,
  planBoards: (s) => s.issues && s.level >= Reporter && isOpen(s),
})

interface ScopePlan<S, P extends Policy<S>> {
  kind: 'project' | 'group'
  path: '/projects/:id' | '/groups/:id'
  on: Resource<S, P>
  toScope(subject: S): ScopeSubject
}

function scope<S, P extends Policy<S>>({ kind, path, on, toScope }: ScopePlan<S, P>) {
  async function find(app: App, params: { id: string }, viewer: User | null): Promise<ScopeSubject | null> {
    const subject = await on.find(app, params as never, viewer)
    return subject && on.policy.read(subject) ? toScope(subject) : null
  }
  const place = resource({ name: on.name!, params: z.object({ id: text }), policy: scopePolicy, find })
  return { kind, path, place }
}

export type Scope = ReturnType<typeof scope>

export const projectScope: Scope = scope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  toScope: (subject) => ({
    project: subject.project,
    namespace: subject.namespace,
    viewer: subject.viewer,
    level: subject.level,
    issues: hasFeature(subject, 'issues'),
    mergeRequests: hasFeature(subject, 'merge_requests'),
  }),
})

const groupScope: Scope = scope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  toScope: ({ group, viewer, level }) => ({
    project: null,
    namespace: group,
    viewer,
    level,
    issues: true,
    mergeRequests: true,
  }),
})

/** `export const [list, listOfGroup] = atProjectAndGroup((scope) => endpoint({ path: `${scope.path}/labels`, … }))` */
export const atProjectAndGroup = (declare: (scope: Scope) => Endpoint) =>
  [declare(projectScope), declare(groupScope)] as const

export const columnsAt = ({ project, namespace }: ScopeRow): ScopeColumns =>
  project ? { project_id: project.id, group_id: null } : { project_id: null, group_id: namespace.id }

/** A condition on rows of the scope itself. */
export const isAt = ({ project, namespace }: ScopeRow, table: string): RawBuilder<boolean> =>
  project
    ? sql`${sql.ref(`${table}.project_id`)} = ${project.id}`
    : sql`${sql.ref(`${table}.group_id`)} = ${namespace.id}`

/** A condition on rows of the scope and of all ancestor groups. */
export function isSeenFrom(where: ScopeRow, table: string): RawBuilder<boolean> {
  const above = sql<boolean>`${sql.ref(`${table}.group_id`)} in
    (select ancestor_id from namespace_ancestors where namespace_id = ${where.namespace.id})`
  return where.project ? sql`(${isAt(where, table)} or ${above})` : above
}

/** Ids of a namespace and its ancestor groups. */
export const groupsAround = (db: Db, namespace: number) =>
  db.selectFrom('namespace_ancestors').select('ancestor_id').where('namespace_id', '=', namespace)

/** Ids of all projects in a group and its subgroups, in batches. */
export async function* projectsIn(db: Db, group: number): AsyncGenerator<number> {
  for (let last = 0; ;) {
    const found = await db
      .selectFrom('projects')
      .select('id')
      .where('namespace_id', 'in', treeOf(db, group))
      .where('id', '>', last)
      .orderBy('id')
      .limit(500)
      .execute()
    if (found.length === 0) return
    last = found.at(-1)!.id
    yield* found.map(({ id }) => id)
  }
}
