/** Lists of labels, by title. */
import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { FeatureEnabled, FeaturePrivate } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { hotQuery, type IsGiven } from '../../../store/hot.ts'
import { askTogether, lookup } from '../../../store/lookups.ts'
import type { Cut } from '../../../store/pages.ts'
import { groupsOfUser } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { hasWork, isAt, isSeenFrom, type ScopeSubject } from '../scopes.ts'
import type { Label } from './model.ts'
import { openTo, viewerValues, type ViewerValues } from './viewers.ts'
import { byTitle } from './queries.ts'

export interface LabelFilter {
  search?: string | null | undefined
  include_ancestor_groups?: boolean | null | undefined
  /** Only for groups. */
  include_descendant_groups?: boolean | null | undefined
  only_group_labels?: boolean | null | undefined
}

interface Filter extends ViewerValues {
  project: number | null
  namespace: number
  pattern: string | null
  /** Labels of ancestor groups too. */
  above: 1 | null
  /** Labels of subgroups too. */
  below: 1 | null
  /** Labels of projects in the group too. */
  ofProjects: 1 | null
}

const labelsOf = (db: Db, p: Filter, given: IsGiven<Filter>) =>
  db
    .selectFrom('labels')
    .where(scopeOf(db, p, given))
    .$if(given('pattern'), (query) =>
      query.where(
        sql<boolean>`(lower(title) like lower(${p.pattern}) escape '\\' or lower(description) like lower(${p.pattern}) escape '\\')`,
      ),
    )

const labelPage = hotQuery((db, p: Filter & Cut, given) =>
  labelsOf(db, p, given).selectAll('labels').orderBy(byTitle(db)).orderBy('id').limit(p.limit).offset(p.offset),
)

const labelTotal = hotQuery((db, p: Filter, given) =>
  labelsOf(db, p, given).select((eb) => eb.fn.countAll<number>().as('total')),
)

export async function listLabels(
  db: Db,
  scope: ScopeSubject,
  filter: LabelFilter,
  { limit, offset }: PageRequest,
): Promise<Page<Label>> {
  if (!hasWork(scope)) return { items: [], total: 0 }
  const { project, namespace, viewer } = scope
  const values: Filter = {
    ...viewerValues(viewer),
    project: project?.id ?? null,
    namespace: namespace.id,
    pattern: filter.search?.trim() ? likePattern(filter.search.trim()) : null,
    above: (filter.include_ancestor_groups ?? true) ? 1 : null,
    below: project === null && filter.include_descendant_groups ? 1 : null,
    ofProjects: project === null && filter.only_group_labels === false ? 1 : null,
  }
  return askTogether(db, {
    items: lookup(labelPage, { ...values, limit, offset }, (rows) => [...rows]),
    total: lookup(labelTotal, values, ([row]) => Number(row!.total)),
  })
}

function scopeOf(db: Db, p: Filter, given: IsGiven<Filter>) {
  const namespace = { id: p.namespace }
  const scope = { project: given('project') ? { id: p.project! } : null, namespace }
  const isDirect = given('project')
    ? sql<boolean>`(${isAt(scope, 'labels')} or labels.group_id = ${p.namespace})`
    : isAt(scope, 'labels')
  const parts = [given('above') ? isSeenFrom(scope, 'labels') : isDirect]
  const tree = treeOf(db, p.namespace)
  if (given('below')) parts.push(sql`labels.group_id in (${readableGroups(p, given)} and n.id in (${tree}))`)
  if (given('ofProjects')) {
    const groups = given('below') ? sql`in (${tree})` : sql`= ${p.namespace}`
    parts.push(sql`labels.project_id in (${readableProjects(p, given)} and p.namespace_id ${groups})`)
  }
  return sql<boolean>`(${sql.join(parts, sql` or `)})`
}

const readableGroups = (p: Filter, given: IsGiven<Filter>) => sql`select n.id from namespaces n where not n.deleting and
  (${given('admin') ? sql`true` : sql`n.visibility in (${openTo(given)}) or n.id in (${groupsOfUser(p.viewer)})`})`

/** Projects where the viewer may see issues or merge requests, and therefore labels. */
function readableProjects(p: Filter, given: IsGiven<Filter>) {
  const isOn = (level: number) =>
    sql`(p.issues_access_level >= ${sql.lit(level)} or p.merge_requests_access_level >= ${sql.lit(level)})`
  const isMine = sql`exists (select 1 from project_authorizations mine
    where mine.project_id = p.id and mine.user_id = ${p.viewer})`
  return sql`select p.id from projects p where not p.deleting and (
    ${given('admin') ? sql`true` : isMine} and ${isOn(FeaturePrivate)}
    or p.visibility in (${openTo(given)}) and ${isOn(FeatureEnabled)})`
}
