/** The number of issues and merge requests of each label, summed from totals that triggers maintain. */
import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import { FeatureEnabled, FeaturePrivate, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { inIdList, unindexed } from '../../../store/dialect.ts'
import { hotQuery, type IsGiven } from '../../../store/hot.ts'
import { lookup, type Answers } from '../../../store/lookups.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import type { ScopeSubject } from '../scopes.ts'
import type { LabelCounts } from './entity.ts'
import { openTo, viewerValues, type ViewerValues } from './viewers.ts'

type Counted = Pick<Row<'issue_labels_facets'>, 'label_id' | 'state'> & { total: number }

interface Filter extends ViewerValues {
  project: number | null
  namespace: number
  labels: string
}

type Given = IsGiven<Filter>

const inScope = (db: Db, p: Filter, given: Given) =>
  given('project') ? sql<boolean>`p.id = ${p.project}` : sql<boolean>`p.namespace_id in (${treeOf(db, p.namespace)})`

/** Whether the viewer may see issues of the row's project; `mine` is the viewer's authorization. */
const showsIssues = (given: Given) => {
  const isMine = given('admin') ? sql`true` : sql`mine.access_level >= ${sql.lit(Guest)}`
  return sql<boolean>`not p.deleting and p.issues_access_level >= ${sql.lit(FeaturePrivate)}
    and (${isMine} or (p.visibility in (${openTo(given)}) and p.issues_access_level = ${sql.lit(FeatureEnabled)}))`
}

/** Whether the viewer may see all issues of the project, including confidential ones. */
const showsAll = (given: Given) =>
  given('admin') ? sql<boolean>`true` : sql<boolean>`coalesce(mine.access_level, 0) >= ${sql.lit(Reporter)}`

const myRight = (p: Filter) =>
  sql`left join project_authorizations mine on mine.project_id = p.id and mine.user_id = ${p.viewer}`

export const NONE: LabelCounts = { opened: 0, closed: 0, mergeRequests: 0 }

const issues = hotQuery(
  (db, p: Filter, given) => sql<Counted>`select f.label_id, f.state, sum(f.total) as total
    from issue_labels_facets f join projects p on p.id = f.project_id ${myRight(p)}
    where ${inIdList(db, 'f.label_id', p.labels)} and ${inScope(db, p, given)} and ${showsIssues(given)}
    and (not f.confidential or ${showsAll(given)})
    group by f.label_id, f.state`,
)

/** Own confidential issues of a viewer who does not see all. */
const ownIssues = hotQuery(
  (db, p: Filter, given) => sql<Counted>`select l.label_id, i.state, count(*) as total
    from issues i join issue_labels l on l.issue_id = i.id
    join projects p on p.id = ${unindexed(db, 'i.project_id')} ${myRight(p)}
    where i.id in (select id from issues where author_id = ${p.viewer} and confidential
      union select issue_id from issue_assignees where user_id = ${p.viewer})
    and i.confidential and ${inIdList(db, 'l.label_id', p.labels)} and ${inScope(db, p, given)}
    and ${showsIssues(given)} and not ${showsAll(given)}
    group by l.label_id, i.state`,
)

/** Whether the viewer may see merge requests of the row's project, and whether all of them. */
function mergeRequestRights(given: Given) {
  const open = sql`p.visibility in (${openTo(given)})`
  const isOn = (level: number) => sql`p.merge_requests_access_level >= ${sql.lit(level)}
    and p.repository_access_level >= ${sql.lit(level)}`
  const isMember = given('admin') ? sql`true` : sql`coalesce(mine.access_level, 0) >= ${sql.lit(Guest)}`
  return {
    shown: sql<boolean>`not p.deleting and (${isMember} and ${isOn(FeaturePrivate)} or ${open} and ${isOn(FeatureEnabled)})`,
    all: sql<boolean>`(${showsAll(given)} or ${open})`,
  }
}

type CountedRequests = { label_id: number; total: number }

const mergeRequests = hotQuery((db, p: Filter, given) => {
  const { shown, all } = mergeRequestRights(given)
  return sql<CountedRequests>`select f.label_id, sum(f.total) as total
    from merge_request_labels_facets f join projects p on p.id = f.project_id ${myRight(p)}
    where ${inIdList(db, 'f.label_id', p.labels)} and ${inScope(db, p, given)} and ${shown} and ${all}
    group by f.label_id`
})

/** Own merge requests of a viewer who does not see all. */
const ownMergeRequests = hotQuery((db, p: Filter, given) => {
  const { shown, all } = mergeRequestRights(given)
  return sql<CountedRequests>`select l.label_id, count(*) as total
    from merge_requests m join merge_request_labels l on l.merge_request_id = m.id
    join projects p on p.id = ${unindexed(db, 'm.project_id')} ${myRight(p)}
    where m.id in (select id from merge_requests where author_id = ${p.viewer}
      union select merge_request_id from merge_request_assignees where user_id = ${p.viewer}
      union select merge_request_id from merge_request_reviewers where user_id = ${p.viewer})
    and m.state in ('opened', 'locked') and ${inIdList(db, 'l.label_id', p.labels)} and ${inScope(db, p, given)}
    and ${shown} and not ${all}
    group by l.label_id`
})

/** The number of issues and merge requests of labels in a scope, as far as the viewer may see them. Null: no labels. */
export function countLookups(viewer: User | null, scope: ScopeSubject, labels: string | null) {
  const { project, namespace, level } = scope
  const place = { project: project?.id ?? null, namespace: namespace.id }
  const values: Filter | null = labels === null ? null : { ...viewerValues(viewer), ...place, labels }
  const own = level >= Reporter ? null : values
  return {
    issues: lookup(issues, values, (rows) => rows),
    ownIssues: lookup(ownIssues, own, (rows) => rows),
    mergeRequests: lookup(mergeRequests, values, (rows) => rows),
    ownMergeRequests: lookup(ownMergeRequests, viewer && own, (rows) => rows),
  }
}

/** By label id. */
export function countsFrom(found: Answers<ReturnType<typeof countLookups>>): Map<number, LabelCounts> {
  const counts = new Map<number, LabelCounts>()
  const add = (label: number, kind: keyof LabelCounts, total: number) => {
    const count = counts.get(label) ?? NONE
    counts.set(label, { ...count, [kind]: count[kind] + Number(total) })
  }
  for (const { label_id, state, total } of [...found.issues, ...found.ownIssues]) add(label_id, state, total)
  for (const { label_id, total } of [...found.mergeRequests, ...found.ownMergeRequests])
    add(label_id, 'mergeRequests', total)
  return counts
}
