/** Lists of merge requests: of a project, of a group, of the instance. */
import { sql, type RawBuilder } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import { leading, type At, type Condition } from '../../../store/lists.ts'
import {
  NOBODY,
  either,
  hasAny,
  isLinked,
  isOpenProject,
  lastOf,
  linksTo,
  not,
  ofItsProject,
  person,
  plannedConditions,
} from '../../planning/items/conditions.ts'
import { itemLists } from '../../planning/items/lists.ts'
import type { MergeRequestFilter } from './filter.ts'
import { mergeRequestKind } from './kind.ts'
import { reviewConditions, reviewFilter, type ReviewValues } from './list-conditions.ts'
import { readsMergeRequests } from './policy.ts'

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
interface Values extends ReviewValues {
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

const planned = plannedConditions(mergeRequestKind)
const inItsProject = ofItsProject(mergeRequestKind)
const isAssigned = isLinked(mergeRequestKind, mergeRequestKind.people.assignees)
const isReviewing = isLinked(mergeRequestKind, mergeRequestKind.people.reviewers)
const hasApproved = isLinked(mergeRequestKind, 'merge_request_approvals')

/** A condition on linked users. */
const linked = (
  name: 'reviewer' | 'approver',
  table: string,
  test: (user: number | undefined) => RawBuilder<boolean>,
): Condition<Values> => ({
  test: (w) => test(w[name]),
  set: (w) => sql`select merge_request_id from ${sql.table(table)} where user_id = ${w[name]}`,
  links: linksTo(mergeRequestKind, table, (w) => w[name]),
})

/** Restricts to the project, for lists of one project. */
const inProject = (w: Values, { given }: At<Values>) => (given('project') ? sql`and project_id = ${w.project}` : sql``)

const { approvers, named, deployed, ...reviewed } = reviewConditions

const conditions: { [name in keyof Values]?: Condition<Values> } = {
  source_branch: {
    test: (w, { hidden }) => sql`${hidden('source_branch')} = ${w.source_branch}`,
    set: (w, at) => sql`select id from merge_requests where source_branch = ${w.source_branch} ${inProject(w, at)}`,
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
    set: (w, at) => sql`select id from merge_requests where target_branch = ${w.target_branch} ${inProject(w, at)}`,
  },
  draft: {
    test: () => sql`merge_requests.draft`,
    set: (w, at) => sql`select id from merge_requests where draft ${inProject(w, at)}`,
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

const FEATURES = ['p.merge_requests_access_level', 'p.repository_access_level']
const areOn = (test: string, level: number) =>
  sql.raw(FEATURES.map((feature) => `${feature} ${test} ${level}`).join(' and '))

const isTheirs = (w: Values) => sql<boolean>`(merge_requests.author_id = ${w.seen_by}
  or ${isAssigned(w.seen_by)} or ${isReviewing(w.seen_by)})`

/** Guests of a private project see only their own. */
const memberSees = (
  w: Values,
  at: At<Values>,
): RawBuilder<boolean> => sql`exists (select 1 from project_authorizations t
  join projects p on p.id = t.project_id
  where t.user_id = ${w.seen_by} and t.project_id = merge_requests.project_id and t.access_level >= ${sql.lit(Guest)}
  and (t.access_level >= ${sql.lit(Reporter)} or ${isOpenProject(at)} or ${isTheirs(w)}))`

export const mergeRequestLists = itemLists<MergeRequestFilter, Values, MergeRequestOrder>({
  kind: mergeRequestKind,
  orders: {
    merged_at: (db, sort) => sql`coalesce(merge_requests.merged_at, ${lastOf(db, sort, 'moment')})`,
  },
  conditions,
  values(app, viewer, filter) {
    const { reviewer, merge_user, draft, source_branch, target_branch } = filter
    const reviewed = reviewFilter(app.db, viewer, filter)
    if (!reviewed || reviewer === NOBODY || merge_user === NOBODY) return null
    return {
      ...(reviewer === 'none' || reviewer === 'any' ? { reviewed: reviewer === 'any' } : person('reviewer', reviewer)),
      ...person('not_reviewer', filter.not_reviewer),
      ...reviewed,
      ...person('merge_user', merge_user),
      ...(source_branch && { source_branch }),
      ...(target_branch && { target_branch }),
      ...(filter.source_project_id && { source_project: filter.source_project_id }),
      ...(draft === true && { draft }),
      ...(draft === false && { ready: true }),
    }
  },
  reads: readsMergeRequests,
  live: sql`not p.deleting and ${areOn('>', FeatureDisabled)}`,
  visible: {
    open: {
      needs: 'seen_by',
      test: (_, at) => inItsProject(sql`${areOn('=', FeatureEnabled)} and ${isOpenProject(at)}`),
    },
    own: { needs: 'seen_by', test: memberSees, counted: ['project_authorizations'] },
  },
  hidesArchived: (isGroup) => isGroup,
})
