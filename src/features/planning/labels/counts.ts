/** The number of issues and merge requests of each label, summed from totals that triggers maintain. */
import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import { FeatureEnabled, FeaturePrivate, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { inIdList, unindexed } from '../../../store/dialect.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import type { ScopeSubject, ScopeRow } from '../scopes.ts'
import type { LabelCounts } from './entity.ts'

type Counted = Pick<Row<'issue_labels_facets'>, 'label_id' | 'state'> & { total: number }

const inScope = (db: Db, { project, namespace }: ScopeRow) =>
  project === null ? sql<boolean>`p.namespace_id in (${treeOf(db, namespace.id)})` : sql<boolean>`p.id = ${project.id}`

/** Whether the viewer may see issues of the row's project; `mine` is the viewer's authorization. */
const showsIssues = (viewer: User | null) => {
  const open = sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))
  const isMine = viewer?.admin ? sql`true` : sql`mine.access_level >= ${sql.lit(Guest)}`
  return sql<boolean>`not p.deleting and p.issues_access_level >= ${sql.lit(FeaturePrivate)}
    and (${isMine} or (p.visibility in (${open}) and p.issues_access_level = ${sql.lit(FeatureEnabled)}))`
}

/** Whether the viewer may see all issues of the project, including confidential ones. */
const showsAll = (viewer: User | null) =>
  viewer?.admin ? sql<boolean>`true` : sql<boolean>`coalesce(mine.access_level, 0) >= ${sql.lit(Reporter)}`

const myRight = (viewer: User | null) =>
  sql`left join project_authorizations mine on mine.project_id = p.id and mine.user_id = ${viewer?.id ?? 0}`

export const NONE: LabelCounts = { opened: 0, closed: 0, mergeRequests: 0 }

/** The number of issues and merge requests per label in a scope, as far as the viewer may see them. */
export async function countWork(
  db: Db,
  viewer: User | null,
  scope: ScopeSubject,
  labels: string,
): Promise<Map<number, LabelCounts>> {
  const counts = new Map<number, LabelCounts>()
  const add = (label: number, kind: keyof LabelCounts, total: number) => {
    const count = counts.get(label) ?? NONE
    counts.set(label, { ...count, [kind]: count[kind] + Number(total) })
  }
  for (const { label_id, state, total } of await countIssues(db, viewer, scope, labels)) add(label_id, state, total)
  for (const { label_id, total } of await countMergeRequests(db, viewer, scope, labels))
    add(label_id, 'mergeRequests', total)
  return counts
}

async function countIssues(db: Db, viewer: User | null, scope: ScopeSubject, labels: string): Promise<Counted[]> {
  const { rows } = await sql<Counted>`select f.label_id, f.state, sum(f.total) as total
    from issue_labels_facets f join projects p on p.id = f.project_id ${myRight(viewer)}
    where ${inIdList(db, 'f.label_id', labels)} and ${inScope(db, scope)} and ${showsIssues(viewer)}
    and (not f.confidential or ${showsAll(viewer)})
    group by f.label_id, f.state`.execute(db)
  return [...rows, ...(await countOwn(db, viewer, scope, labels))]
}

/** Own confidential issues of a viewer who does not see all. */
async function countOwn(db: Db, viewer: User | null, scope: ScopeSubject, labels: string): Promise<Counted[]> {
  if (scope.level >= Reporter) return []
  const { rows } = await sql<Counted>`select l.label_id, i.state, count(*) as total
    from issues i join issue_labels l on l.issue_id = i.id
    join projects p on p.id = ${unindexed(db, 'i.project_id')} ${myRight(viewer)}
    where i.id in (select id from issues where author_id = ${viewer?.id ?? 0} and confidential
      union select issue_id from issue_assignees where user_id = ${viewer?.id ?? 0})
    and i.confidential and ${inIdList(db, 'l.label_id', labels)} and ${inScope(db, scope)}
    and ${showsIssues(viewer)} and not ${showsAll(viewer)}
    group by l.label_id, i.state`.execute(db)
  return rows
}

/** Whether the viewer may see merge requests of the row's project, and whether all of them. */
function mergeRequestRights(viewer: User | null) {
  const open = sql`p.visibility in (${sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))})`
  const isOn = (level: number) => sql`p.merge_requests_access_level >= ${sql.lit(level)}
    and p.repository_access_level >= ${sql.lit(level)}`
  const isMember = viewer?.admin ? sql`true` : sql`coalesce(mine.access_level, 0) >= ${sql.lit(Guest)}`
  return {
    shown: sql<boolean>`not p.deleting and (${isMember} and ${isOn(FeaturePrivate)} or ${open} and ${isOn(FeatureEnabled)})`,
    all: sql<boolean>`(${showsAll(viewer)} or ${open})`,
  }
}

type CountedRequests = { label_id: number; total: number }

async function countMergeRequests(db: Db, viewer: User | null, scope: ScopeSubject, labels: string) {
  const { shown, all } = mergeRequestRights(viewer)
  const { rows } = await sql<CountedRequests>`select f.label_id, sum(f.total) as total
    from merge_request_labels_facets f join projects p on p.id = f.project_id ${myRight(viewer)}
    where ${inIdList(db, 'f.label_id', labels)} and ${inScope(db, scope)} and ${shown} and ${all}
    group by f.label_id`.execute(db)
  if (scope.level >= Reporter || viewer === null) return rows
  const { rows: own } = await sql<CountedRequests>`select l.label_id, count(*) as total
    from merge_requests m join merge_request_labels l on l.merge_request_id = m.id
    join projects p on p.id = ${unindexed(db, 'm.project_id')} ${myRight(viewer)}
    where m.id in (select id from merge_requests where author_id = ${viewer.id}
      union select merge_request_id from merge_request_assignees where user_id = ${viewer.id}
      union select merge_request_id from merge_request_reviewers where user_id = ${viewer.id})
    and m.state in ('opened', 'locked') and ${inIdList(db, 'l.label_id', labels)} and ${inScope(db, scope)}
    and ${shown} and not ${all}
    group by l.label_id`.execute(db)
  return [...rows, ...own]
}
