/** Lists of issues: of a project, of a group, of the instance. */
import { sql } from 'kysely'
import { today } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { leading, type At, type Condition, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import {
  either,
  isLinked,
  isOpenProject,
  lastOf,
  ofItsProject,
  plannedConditions,
  type NoneOrAny,
  type PlannedValues,
} from '../items/conditions.ts'
import { itemLists } from '../items/lists.ts'
import type { IssueFilter } from './filter.ts'
import { issueKind } from './kind.ts'
import { POSITION } from './order.ts'
import { issuesPolicy } from './policy.ts'

export const ISSUE_ORDERS = [
  'created_at',
  'updated_at',
  'title',
  'due_date',
  'popularity',
  'weight',
  'relative_position',
  'milestone_due',
  'label_priority',
  'priority',
] as const
export type IssueOrder = (typeof ISSUE_ORDERS)[number]

/** The values of list conditions. An absent value is no condition. */
interface Values extends PlannedValues {
  confidential?: boolean
  issue_type?: string
  closed_by?: number
  due_from?: string
  due_until?: string
  due?: boolean
  weight?: number
  weighed?: boolean
}

const planned = plannedConditions(issueKind)
const inItsProject = ofItsProject(issueKind)
const isAssigned = isLinked(issueKind, issueKind.people.assignees)

const conditions: { [name in keyof Values]?: Condition<Values> } = {
  ...planned.first,
  state: {
    facet: true,
    // Only the default order has an index with the state.
    test: (w, at) => sql`${leading(at, 'state', 'created_at')} = ${w.state}`,
  },
  confidential: { facet: true, test: (w, { column }) => sql`${column('confidential')} = ${w.confidential}` },
  issue_type: { test: (w) => sql`issues.issue_type = ${w.issue_type}` },
  closed_by: { test: (w, { hidden }) => sql`${hidden('closed_by_id')} = ${w.closed_by}` },
  due: { test: (w) => either(w.due, sql`(issues.due_date is not null)`) },
  weighed: { test: (w) => either(w.weighed, sql`(issues.weight is not null)`) },
  weight: { test: (w) => sql`issues.weight = ${w.weight}` },
  due_from: { test: (w) => sql`issues.due_date >= ${w.due_from}` },
  due_until: { test: (w) => sql`issues.due_date <= ${w.due_until}` },
  ...planned.rest,
}

const isTheirs = (w: Pick<Values, 'seen_by'>) =>
  sql<boolean>`(issues.author_id = ${w.seen_by} or ${isAssigned(w.seen_by)})`

const openProject = (at: At<Values>) =>
  inItsProject(sql`p.issues_access_level = ${sql.lit(FeatureEnabled)} and ${isOpenProject(at)}`)

/** Members below Reporter see issues that are not confidential, and their own. */
const memberSees = (w: Pick<Values, 'seen_by'>) => sql<boolean>`exists (select 1 from project_authorizations t
  join projects p on p.id = t.project_id
  where t.user_id = ${w.seen_by} and t.project_id = issues.project_id and t.access_level >= ${sql.lit(Guest)}
  and p.issues_access_level > ${sql.lit(FeatureDisabled)}
  and (t.access_level >= ${sql.lit(Reporter)} or not issues.confidential or ${isTheirs(w)}))`

const milestoneDue = (db: Db, sort: Sort) => sql`coalesce(issues.milestone_due, ${lastOf(db, sort, 'date')})`

const labelPriority = (db: Db, sort: Sort) => sql`coalesce(issues.label_priority, ${lastOf(db, sort, 'number')})`

export const issueLists = itemLists<IssueFilter, Values, IssueOrder>({
  kind: issueKind,
  orders: {
    due_date: (db, sort) => sql`coalesce(issues.due_date, ${lastOf(db, sort, 'date')})`,
    weight: (db, sort) => sql`coalesce(issues.weight, ${lastOf(db, sort, 'number')})`,
    relative_position: () => POSITION,
    milestone_due: milestoneDue,
    // By due date of the milestone, then by label priority.
    priority: (db, sort) => sql`${milestoneDue(db, sort)} ${sql.raw(sort)}, ${labelPriority(db, sort)}`,
  },
  conditions,
  values: (app, _viewer, filter) => ({
    ...(typeof filter.confidential === 'boolean' && { confidential: filter.confidential }),
    ...(filter.issue_type && { issue_type: filter.issue_type }),
    ...(filter.closed_by_id && { closed_by: filter.closed_by_id }),
    ...dueValues(app, filter.due_date),
    ...weightValues(filter.weight),
  }),
  reads: issuesPolicy.readIssues,
  inProject: {
    visible: {
      open: { needs: 'seen_by', test: (_, { column }) => sql`not ${column('confidential')}` },
      own: { needs: 'seen_by', test: isTheirs, counted: [] },
    },
    seesAll: ({ level }) => level >= Reporter,
  },
  live: sql`not p.deleting`,
  visible: {
    open: { needs: 'seen_by', test: (_, at) => sql`not issues.confidential and ${openProject(at)}` },
    own: {
      needs: 'seen_by',
      test: (w, at) => sql`(${memberSees(w)} or (${openProject(at)} and ${isTheirs(w)}))`,
      counted: ['project_authorizations'],
    },
  },
  hidesArchived: () => true,
})

function weightValues(weight: NoneOrAny<number> | null | undefined): Values {
  if (weight === null || weight === undefined) return {}
  return weight === 'none' || weight === 'any' ? { weighed: weight === 'any' } : { weight }
}

const day = (clock: App['clock'], days: number) =>
  new Date(Date.parse(`${today(clock)}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

function dueValues({ clock }: App, due: IssueFilter['due_date']): Values {
  const now = new Date(`${today(clock)}T00:00:00Z`)
  const monthsAhead = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 0)).toISOString().slice(0, 10)
  // A week begins on Monday.
  const weekday = (now.getUTCDay() + 6) % 7
  switch (due) {
    case '0':
      return { due: false }
    case 'any':
      return { due: true }
    case 'today':
      return { due_from: day(clock, 0), due_until: day(clock, 0) }
    case 'tomorrow':
      return { due_from: day(clock, 1), due_until: day(clock, 1) }
    case 'overdue':
      return { due_until: day(clock, -1) }
    case 'week':
      return { due_from: day(clock, -weekday), due_until: day(clock, 6 - weekday) }
    case 'month':
      return { due_from: `${today(clock).slice(0, 7)}-01`, due_until: monthsAhead(1) }
    case 'next_month_and_previous_two_weeks':
      return { due_from: day(clock, -14), due_until: monthsAhead(2) }
    default:
      return {}
  }
}

/** The number of issues per state. */
export async function countIssues(
  list: (filter: IssueFilter, cut: Cut) => Promise<Page<unknown>>,
  filter: IssueFilter,
): Promise<{ all: number; closed: number; opened: number }> {
  const none = { limit: 0, offset: 0 }
  const [opened, closed] = await Promise.all([
    list({ ...filter, state: 'opened' }, none),
    list({ ...filter, state: 'closed' }, none),
  ])
  return { all: opened.total + closed.total, opened: opened.total, closed: closed.total }
}
