/** Lists of labels, by title. */
import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { FeatureEnabled, FeaturePrivate } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { hasWork, isAt, isSeenFrom, type ScopeSubject } from '../scopes.ts'
import type { Label } from './model.ts'
import { byTitle } from './queries.ts'

export interface LabelFilter {
  search?: string | null | undefined
  include_ancestor_groups?: boolean | null | undefined
  /** Only for groups. */
  include_descendant_groups?: boolean | null | undefined
  only_group_labels?: boolean | null | undefined
}

export async function listLabels(
  db: Db,
  scope: ScopeSubject,
  filter: LabelFilter,
  page: PageRequest,
): Promise<Page<Label>> {
  if (!hasWork(scope)) return { items: [], total: 0 }
  const pattern = filter.search?.trim() ? likePattern(filter.search.trim()) : null
  const found = db
    .selectFrom('labels')
    .selectAll('labels')
    .where(scopeOf(db, scope, filter))
    .$if(pattern !== null, (query) =>
      query.where(
        sql<boolean>`(lower(title) like lower(${pattern}) escape '\\' or lower(description) like lower(${pattern}) escape '\\')`,
      ),
    )
    .orderBy(byTitle(db))
    .orderBy('id')
  return pageOfQuery(found, page)
}

function scopeOf(db: Db, scope: ScopeSubject, filter: LabelFilter) {
  const { project, namespace, viewer } = scope
  const isDirect =
    project === null
      ? isAt(scope, 'labels')
      : sql<boolean>`(${isAt(scope, 'labels')} or labels.group_id = ${namespace.id})`
  const around = (filter.include_ancestor_groups ?? true) ? isSeenFrom(scope, 'labels') : isDirect
  if (project !== null) return around

  const parts = [around]
  const tree = treeOf(db, namespace.id)
  const below = filter.include_descendant_groups ?? false
  if (below) parts.push(sql`labels.group_id in (${readableGroups(viewer)} and n.id in (${tree}))`)
  if (filter.only_group_labels === false) {
    const groups = below ? sql`in (${tree})` : sql`= ${namespace.id}`
    parts.push(sql`labels.project_id in (${readableProjects(viewer)} and p.namespace_id ${groups})`)
  }
  return sql<boolean>`(${sql.join(parts, sql` or `)})`
}

const openTo = (viewer: User | null) => sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))

const readableGroups = (viewer: User | null) => sql`select n.id from namespaces n where not n.deleting and
  (${viewer?.admin ? sql`true` : sql`n.visibility in (${openTo(viewer)}) or n.id in (${groupsOfUser(viewer?.id ?? 0)})`})`

/** Projects where the viewer may see issues or merge requests, and therefore labels. */
function readableProjects(viewer: User | null) {
  const isOn = (level: number) =>
    sql`(p.issues_access_level >= ${sql.lit(level)} or p.merge_requests_access_level >= ${sql.lit(level)})`
  const isMine = sql`exists (select 1 from project_authorizations mine
    where mine.project_id = p.id and mine.user_id = ${viewer?.id ?? 0})`
  return sql`select p.id from projects p where not p.deleting and (
    ${viewer?.admin ? sql`true` : isMine} and ${isOn(FeaturePrivate)}
    or p.visibility in (${openTo(viewer)}) and ${isOn(FeatureEnabled)})`
}
