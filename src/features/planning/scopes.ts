/** Labels, milestones and boards belong to projects and to groups alike. */
import { sql, type RawBuilder } from 'kysely'
import { policy } from '../../api/endpoint.ts'
import { scope, type ScopeColumns } from '../../api/resource-scopes.ts'
import type { User } from '../../context.ts'
import { Reporter } from '../../lib/levels.ts'
import type { Db, Row } from '../../store/database.ts'
import { group } from '../groups/groups/queries.ts'
import { treeOf } from '../identity/namespaces/queries.ts'
import { hasFeature } from '../projects/projects/policy.ts'
import { project } from '../projects/projects/queries.ts'

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
  /** See the bin. Each kind of record asks for the level that deletes it. */
  restore: (s) => s.level >= Reporter && isOpen(s),
  readMilestones: hasWork,
  readBoards: (s) => s.issues,
  planBoards: (s) => s.issues && s.level >= Reporter && isOpen(s),
})

export const projectScope = scope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  policy: scopePolicy,
  to: (subject): ScopeSubject => ({
    project: subject.project,
    namespace: subject.namespace,
    viewer: subject.viewer,
    level: subject.level,
    issues: hasFeature(subject, 'issues'),
    mergeRequests: hasFeature(subject, 'merge_requests'),
  }),
})

const groupScope = scope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  policy: scopePolicy,
  to: ({ group, viewer, level }): ScopeSubject => ({
    project: null,
    namespace: group,
    viewer,
    level,
    issues: true,
    mergeRequests: true,
  }),
})

export const planningScopes = [projectScope, groupScope] as const
export type PlanningScope = (typeof planningScopes)[number]

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
