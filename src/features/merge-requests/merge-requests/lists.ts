/** Lists of merge requests: of a project, of a group, of the instance. */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { binaryText } from '../../../store/dialect.ts'
import { leading, longList, type At, type Condition, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import {
  NOBODY,
  either,
  hasAny,
  isLinked,
  lastOf,
  linksTo,
  not,
  ofItsProject,
  person,
  plannedConditions,
  plannedValues,
  seenBy,
} from '../../planning/items/conditions.ts'
import type { ScopeSubject } from '../../planning/scopes.ts'
import type { MergeRequestFilter } from './filter.ts'
import { reviewConditions, reviewFilter, type ReviewValues } from './list-conditions.ts'
import { mergeRequestsPolicy } from './policy.ts'

export const MERGE_REQUEST_ORDERS = [
  'created_at',
  'updated_at',
  'merged_at',
  'title',
  'popularity',
  'label_priority',
] as const
export type MergeRequestOrder = (typeof MERGE_REQUEST_ORDERS)[number]

/** The values of list conditions. An absent value is no condition. */
interface Filter extends ReviewValues {
  state?: 'opened' | 'closed' | 'merged'
  reviewer?: number
  not_reviewer?: number
  reviewed?: boolean
  approver?: number
  merge_user?: number
  source_branch?: string
  target_branch?: string
  source_project?: number
  draft?: true
  ready?: true
}

const planned = plannedConditions('merge_requests')
const inItsProject = ofItsProject('merge_requests')
const isAssigned = isLinked('merge_requests', 'merge_request_assignees')
const isReviewing = isLinked('merge_requests', 'merge_request_reviewers')
const hasApproved = isLinked('merge_requests', 'merge_request_approvals')

/** A condition on linked users. */
const linked = (
  name: 'reviewer' | 'approver',
  table: string,
  test: (user: number | undefined) => RawBuilder<boolean>,
): Condition<Filter> => ({
  test: (w) => test(w[name]),
  set: (w) => sql`select merge_request_id from ${sql.table(table)} where user_id = ${w[name]}`,
  links: linksTo('merge_requests', table, (w) => w[name]),
})

/** Restricts to the project, for lists of one project. */
const here = (w: Filter, { given }: At<Filter>) => (given('project') ? sql`and project_id = ${w.project}` : sql``)

const { approvers, named, deployed, ...reviewed } = reviewConditions

const conditions: { [name in keyof Filter]?: Condition<Filter> } = {
  source_branch: {
    test: (w, { hidden }) => sql`${hidden('source_branch')} = ${w.source_branch}`,
    set: (w, at) => sql`select id from merge_requests where source_branch = ${w.source_branch} ${here(w, at)}`,
  },
  reviewer: linked('reviewer', 'merge_request_reviewers', isReviewing),
  approver: linked('approver', 'merge_request_approvals', hasApproved),
  approvers,
  named,
  deployed,
  merge_user: {
    test: (w, { column, hidden, order }) =>
      sql`${(order === 'created_at' ? column : hidden)('merge_user_id')} = ${w.merge_user}`,
    set: (w) => sql`select id from merge_requests where merge_user_id = ${w.merge_user}`,
    leads: ['created_at'],
  },
  ...planned.first,
  source_project: {
    test: (w, { hidden }) => sql`${hidden('source_project_id')} = ${w.source_project}`,
    set: (w) => sql`select id from merge_requests where source_project_id = ${w.source_project}`,
  },
  target_branch: {
    test: (w, { hidden }) => sql`${hidden('target_branch')} = ${w.target_branch}`,
    set: (w, at) => sql`select id from merge_requests where target_branch = ${w.target_branch} ${here(w, at)}`,
  },
  draft: {
    test: () => sql`merge_requests.draft`,
    set: (w, at) => sql`select id from merge_requests where draft ${here(w, at)}`,
  },
  state: {
    facet: true,
    test: (w, at) => {
      // Only the default order has an index with the state.
      const state = leading(at, 'state', 'created_at')
      // Clients see `locked` as `opened`.
      return sql`case when ${state} = 'locked' then 'opened' else ${state} end = ${w.state}`
    },
  },
  ready: { test: () => sql`not merge_requests.draft` },
  reviewed: {
    test: (w) =>
      either(w.reviewed, hasAny(sql`from merge_request_reviewers r where r.merge_request_id = merge_requests.id`)),
  },
  ...reviewed,
  not_reviewer: { test: (w) => not(isReviewing(w.not_reviewer)) },
  ...planned.rest,
}

const orders = {
  created_at: () => sql.ref('merge_requests.created_at'),
  updated_at: () => sql.ref('merge_requests.updated_at'),
  merged_at: (db: Db, sort: Sort) => sql`coalesce(merge_requests.merged_at, ${lastOf(db, sort, 'moment')})`,
  title: (db: Db) => sql.raw(binaryText(db, 'merge_requests.title')),
  popularity: () => sql.ref('merge_requests.upvotes'),
  label_priority: (db: Db, sort: Sort) => sql`coalesce(merge_requests.label_priority, ${lastOf(db, sort, 'number')})`,
}

const usual = () => ['created_at', 'desc'] as const

/** A viewer who may see merge requests of a project sees all of them. */
export const ofProject = longList<Filter, 'merge_requests', MergeRequestOrder, 'id'>({
  table: 'merge_requests',
  columns: ['id'],
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions,
  orders,
  usual,
})

const FEATURES = ['p.merge_requests_access_level', 'p.repository_access_level']
const areOn = (test: string, level: number) =>
  sql.raw(FEATURES.map((feature) => `${feature} ${test} ${level}`).join(' and '))

const isOpen = ({ given }: Pick<At<Filter>, 'given'>) =>
  sql`p.visibility in (${sql.raw(given('internal_too') ? `'public', 'internal'` : `'public'`)})`

const isTheirs = (w: Filter) => sql<boolean>`(merge_requests.author_id = ${w.seen_by}
  or ${isAssigned(w.seen_by)} or ${isReviewing(w.seen_by)})`

/** Guests of a private project see only their own. */
const memberSees = (
  w: Filter,
  at: At<Filter>,
): RawBuilder<boolean> => sql`exists (select 1 from project_authorizations t
  join projects p on p.id = t.project_id
  where t.user_id = ${w.seen_by} and t.project_id = merge_requests.project_id and t.access_level >= ${sql.lit(Guest)}
  and (t.access_level >= ${sql.lit(Reporter)} or ${isOpen(at)} or ${isTheirs(w)}))`

export const ofAll = longList<Filter, 'merge_requests', MergeRequestOrder, 'id'>({
  table: 'merge_requests',
  columns: ['id'],
  facets: true,
  counted: ['projects'],
  followed: {},
  always: () => [inItsProject(sql`not p.deleting and ${areOn('>', FeatureDisabled)}`)],
  conditions,
  visible: {
    open: { needs: 'seen_by', test: (_, at) => inItsProject(sql`${areOn('=', FeatureEnabled)} and ${isOpen(at)}`) },
    own: { needs: 'seen_by', test: memberSees, counted: ['project_authorizations'] },
  },
  orders,
  usual,
})

type Order = { order_by?: MergeRequestOrder | null | undefined; sort?: Sort | null | undefined }
type Listed = Promise<Page<{ id: number }>>

const NOTHING = { items: [], total: 0 }

/** Merge requests of a project. The caller has checked that the viewer may see them. */
export async function listProjectMergeRequests(
  app: App,
  { project, viewer }: { project: { id: number }; viewer: User | null },
  filter: MergeRequestFilter & Order,
  cut: Cut,
): Listed {
  const values = valuesOf(app, viewer, filter)
  return values ? ofProject(app.db, { ...values, project: project.id }, cut, filter) : NOTHING
}

/** Merge requests of all projects the viewer may see, or of a group. */
export async function listMergeRequests(
  app: App,
  viewer: User | null,
  filter: MergeRequestFilter & Order & { group?: number },
  cut: Cut,
): Listed {
  const values = valuesOf(app, viewer, filter)
  if (!values) return NOTHING
  const isGroup = filter.group !== undefined
  const place = {
    ...(isGroup && { group: filter.group }),
    // The list of a group excludes archived projects by default.
    ...((filter.non_archived ?? isGroup) && { non_archived: true as const }),
  }
  return ofAll(app.db, { ...values, ...seenBy(viewer), ...place }, cut, filter)
}

/** Of a project (empty if the viewer may see none), or of the projects of a group. */
export async function listMergeRequestsAt(
  app: App,
  { project, namespace, viewer, level }: ScopeSubject,
  filter: MergeRequestFilter & Order,
  cut: Cut,
): Listed {
  if (!project) return listMergeRequests(app, viewer, { ...filter, group: namespace.id }, cut)
  const subject = { project, namespace, viewer, level, open: openVisibilities(viewer), dir: '' }
  return mergeRequestsPolicy.readMergeRequests(subject) ? listProjectMergeRequests(app, subject, filter, cut) : NOTHING
}

/** Null if nothing can match. */
function valuesOf(app: App, viewer: User | null, filter: MergeRequestFilter): Filter | null {
  const { reviewer, draft, source_branch, target_branch } = filter
  const reviewed = reviewFilter(app.db, viewer, filter)
  if (!reviewed) return null
  const values: Filter = {
    ...plannedValues(app, viewer, filter),
    ...(filter.state && filter.state !== 'all' && { state: filter.state }),
    ...(reviewer === 'none' || reviewer === 'any' ? { reviewed: reviewer === 'any' } : person('reviewer', reviewer)),
    ...person('not_reviewer', filter.not_reviewer),
    ...reviewed,
    ...person('merge_user', filter.merge_user),
    ...(source_branch && { source_branch }),
    ...(target_branch && { target_branch }),
    ...(filter.source_project_id && { source_project: filter.source_project_id }),
    ...(draft === true && { draft }),
    ...(draft === false && { ready: true }),
  }
  return [values.author, values.assignee, values.reviewer, values.merge_user].includes(NOBODY) ? null : values
}
