/** Lists of issues: of a project, of a group, of all there are. */
import { sql, type RawBuilder } from 'kysely'
import { today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import {
  SUBSTRING_FROM,
  binaryText,
  foundIds,
  idList,
  inIdList,
  isSqlite,
  isWithin,
  substring,
  textsIn,
} from '../../../store/dialect.ts'
import { longList, type At, type Condition, type Sort } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { Place } from '../places.ts'
import type { IssueFilter, Named } from './filter.ts'
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

/** More words narrow a search no further. */
const MOST_WORDS = 8
/** Nor does more of a word. */
const LONGEST_WORD = 100
type WordName = `word${number}`

/** The values of a list's conditions; what is absent is no condition. */
interface Wanted {
  project?: number
  group?: number
  non_archived?: true
  state?: 'opened' | 'closed'
  confidential?: boolean
  issue_type?: string
  author?: number
  not_author?: number
  assignee?: number
  not_assignee?: number
  assigned?: boolean
  closed_by?: number
  /** Titles as a JSON list, and how many. */
  labels?: string
  label_total?: number
  not_labels?: string
  labelled?: boolean
  milestone?: string
  not_milestone?: string
  planned?: boolean
  /** The day it is. */
  upcoming?: string
  started?: string
  milestone_id?: number
  label_id?: number
  not_label_ids?: string
  iids?: string
  not_iids?: string
  emoji?: string
  not_emoji?: string
  reacted?: boolean
  /** Whose reactions. */
  reader?: number
  created_after?: string
  created_before?: string
  updated_after?: string
  updated_before?: string
  due_from?: string
  due_until?: string
  due?: boolean
  weight?: number
  weighed?: boolean
  in_title?: true
  in_description?: true
  /** Absent for those who see everything; 0 for visitors. */
  seen_by?: number
  internal_too?: true
  /** As it is, and as the substring index takes it, which short ones have no use of. */
  [word: WordName | `indexed_${WordName}`]: string | undefined
}

const titled = (w: Wanted, { db, given }: At<Wanted>, list: string) =>
  sql`from issue_labels il join labels l on l.id = il.label_id
    where l.title in (${textsIn(db, list)})
    ${given('project') ? sql`and (l.project_id = ${w.project} or l.project_id is null)` : sql``}`

const milestonesTitled = (w: Wanted, { given }: At<Wanted>, title: string) =>
  sql`select m.id from milestones m where m.title = ${title}
    ${given('project') ? sql`and (m.project_id = ${w.project} or m.project_id is null)` : sql``}`

/** Open ones of the project or its groups that end next. */
const upcoming = (
  w: Wanted,
) => sql`select m.id from milestones m where m.state = 'active' and m.due_date >= ${w.upcoming}
  and not exists (select 1 from milestones s where s.state = 'active' and s.due_date >= ${w.upcoming}
    and s.due_date < m.due_date and (s.project_id = m.project_id or s.group_id = m.group_id))`

const reaction = (w: Wanted, name: RawBuilder<unknown>) => sql<boolean>`exists (select 1 from award_emoji e
  where e.issue_id = issues.id and e.user_id = ${w.reader} ${name})`

const isAssigned = (user: number | undefined) =>
  sql<boolean>`exists (select 1 from issue_assignees a where a.issue_id = issues.id and a.user_id = ${user})`

/** Of the project `p` alone. As `exists` PostgreSQL would look up all projects there are, once for each page. */
const ofItsProject = (test: RawBuilder<unknown>) =>
  sql<boolean>`coalesce((select ${test} from projects p where p.id = issues.project_id), false)`

const not = (test: RawBuilder<boolean>) => sql<boolean>`not ${test}`
const either = (wanted: boolean | undefined, test: RawBuilder<boolean>) => sql<boolean>`${test} = ${wanted}`

/** A column that an index leads to, unless another order is walked: then it must not lead away from that. */
const leading = ({ column, hidden, order }: At<Wanted>, name: string, itsOrder = name) =>
  (order === undefined || order === itsOrder ? column : hidden)(name)

/**
 * What was not changed since was not created since: follows from the other test, and tells the walk where to begin. But
 * for the few that are said to be created after their last change.
 */
const createdBefore = (w: Wanted, { db, column, given }: At<Wanted>, moment: string) => {
  const odd = sql`(select max(o.created_at) from issues o where o.updated_at < o.created_at
    ${given('project') ? sql`and o.project_id = ${w.project}` : sql``})`
  const latest = isSqlite(db) ? sql.raw('max') : sql.raw('greatest')
  return sql<boolean>`${column('created_at')} <= ${latest}(${moment}, coalesce(${odd}, ${moment}))`
}

/** Of a word: anywhere in the title or the description, unless one of them is meant alone. */
function wordCondition(name: WordName): Condition<Wanted> {
  const columnsOf = (given: At<Wanted>['given']) =>
    given('in_title') ? ['title'] : given('in_description') ? ['description'] : ['title', 'description']
  return {
    test(w, { db, given }) {
      const matches = columnsOf(given).map((column) => isWithin(db, `issues.${column}`, w[name]!))
      return sql`(${sql.join(matches, sql` or `)})`
    },
    set(w, { db, given }) {
      const indexed = `indexed_${name}` as const
      return given(indexed) ? foundIds(db, 'issues', columnsOf(given), w[indexed]!) : undefined
    },
  }
}

const words = Object.fromEntries(
  Array.from({ length: MOST_WORDS }, (_, n) => [`word${n}`, wordCondition(`word${n}`)]),
) as { [name in WordName]: Condition<Wanted> }

const conditions: { [name in keyof Wanted]?: Condition<Wanted> } = {
  iids: {
    test: (w, { db }) => inIdList(db, 'issues.iid', w.iids!),
    set: (w, { db, given }) =>
      given('project')
        ? sql`select i.id from issues i where i.project_id = ${w.project} and ${inIdList(db, 'i.iid', w.iids!)}`
        : undefined,
  },
  author: {
    test: (w, { column, hidden, order }) =>
      sql`${(order === 'created_at' ? column : hidden)('author_id')} = ${w.author}`,
    set: (w) => sql`select id from issues where author_id = ${w.author}`,
    leads: ['created_at'],
  },
  assignee: {
    test: (w) => isAssigned(w.assignee),
    set: (w) => sql`select issue_id from issue_assignees where user_id = ${w.assignee}`,
  },
  emoji: {
    test: (w) => reaction(w, sql`and e.name = ${w.emoji}`),
    set: (w) => sql`select issue_id from award_emoji
      where user_id = ${w.reader} and name = ${w.emoji} and issue_id is not null`,
  },
  milestone: {
    test: (w, at) => sql`${at.hidden('milestone_id')} in (${milestonesTitled(w, at, w.milestone!)})`,
    set: (w, at) => sql`select id from issues where milestone_id in (${milestonesTitled(w, at, w.milestone!)})`,
    scoped: ['milestones'],
  },
  milestone_id: {
    test: (w, { hidden }) => sql`${hidden('milestone_id')} = ${w.milestone_id}`,
    set: (w) => sql`select id from issues where milestone_id = ${w.milestone_id}`,
  },
  label_id: {
    test: (w) =>
      sql`exists (select 1 from issue_labels il where il.issue_id = issues.id and il.label_id = ${w.label_id})`,
    set: (w) => sql`select issue_id from issue_labels where label_id = ${w.label_id}`,
  },
  upcoming: {
    test: (w, { hidden }) => sql`${hidden('milestone_id')} in (${upcoming(w)})`,
    set: (w) => sql`select id from issues where milestone_id in (${upcoming(w)})`,
    scoped: ['milestones'],
  },
  started: {
    test: (w, { hidden }) =>
      sql`${hidden('milestone_id')} in (select m.id from milestones m where m.start_date <= ${w.started})`,
    scoped: ['milestones'],
  },
  labels: {
    test: (w, at) => sql`(select count(distinct l.title) ${titled(w, at, w.labels!)}
      and il.issue_id = issues.id) = ${w.label_total}`,
    set: (w, at) => sql`select il.issue_id ${titled(w, at, w.labels!)}
      group by il.issue_id having count(distinct l.title) = ${w.label_total}`,
    scoped: ['labels'],
  },
  ...words,
  group: {
    test: (w) => sql`${ofItsProject(sql`exists (select 1 from namespace_ancestors a
        where a.namespace_id = p.namespace_id and a.ancestor_id = ${w.group})`)}
      or ${ofItsProject(sql`exists (select 1 from project_shares s where s.project_id = p.id and s.group_id = ${w.group})`)}`,
    set: (w) => sql`select i.id from issues i where i.project_id in (${projectsOf(w)})`,
    counted: ['projects', 'namespaces', 'project_shares'],
  },
  state: {
    facet: true,
    // Of all orders only the usual one has an index by state.
    test: (w, at) => sql`${leading(at, 'state', 'created_at')} = ${w.state}`,
  },
  confidential: { facet: true, test: (w, { column }) => sql`${column('confidential')} = ${w.confidential}` },
  non_archived: {
    facet: true,
    test: () => ofItsProject(sql`not p.archived`),
  },
  issue_type: { test: (w) => sql`issues.issue_type = ${w.issue_type}` },
  closed_by: { test: (w, { hidden }) => sql`${hidden('closed_by_id')} = ${w.closed_by}` },
  assigned: {
    test: (w) => either(w.assigned, sql`exists (select 1 from issue_assignees a where a.issue_id = issues.id)`),
  },
  labelled: {
    test: (w) => either(w.labelled, sql`exists (select 1 from issue_labels il where il.issue_id = issues.id)`),
  },
  planned: { test: (w, { hidden }) => either(w.planned, sql`(${hidden('milestone_id')} is not null)`) },
  reacted: { test: (w) => either(w.reacted, reaction(w, sql``)) },
  due: { test: (w) => either(w.due, sql`(issues.due_date is not null)`) },
  weighed: { test: (w) => either(w.weighed, sql`(issues.weight is not null)`) },
  weight: { test: (w) => sql`issues.weight = ${w.weight}` },
  due_from: { test: (w) => sql`issues.due_date >= ${w.due_from}` },
  due_until: { test: (w) => sql`issues.due_date <= ${w.due_until}` },
  created_after: { test: (w, at) => sql`${leading(at, 'created_at')} >= ${w.created_after}` },
  created_before: { test: (w, at) => sql`${leading(at, 'created_at')} <= ${w.created_before}` },
  updated_after: { test: (w, at) => sql`${leading(at, 'updated_at')} >= ${w.updated_after}` },
  updated_before: {
    test: (w, at) => {
      const test = sql<boolean>`${leading(at, 'updated_at')} <= ${w.updated_before}`
      return at.order === 'created_at' ? sql`${test} and ${createdBefore(w, at, w.updated_before!)}` : test
    },
  },
  not_author: { test: (w, { hidden }) => sql`${hidden('author_id')} is distinct from ${w.not_author}` },
  not_assignee: { test: (w) => not(isAssigned(w.not_assignee)) },
  not_labels: {
    test: (w, at) => sql`not exists (select 1 ${titled(w, at, w.not_labels!)} and il.issue_id = issues.id)`,
    scoped: ['labels'],
  },
  not_label_ids: {
    test: (w, { db }) => sql`not exists (select 1 from issue_labels il
      where il.issue_id = issues.id and ${inIdList(db, 'il.label_id', w.not_label_ids!)})`,
  },
  not_milestone: {
    test: (w, at) => sql`coalesce(issues.milestone_id not in (${milestonesTitled(w, at, w.not_milestone!)}), true)`,
    scoped: ['milestones'],
  },
  not_iids: { test: (w, { db }) => sql`not ${inIdList(db, 'issues.iid', w.not_iids!)}` },
  not_emoji: { test: (w) => not(reaction(w, sql`and e.name = ${w.not_emoji}`)) },
}

/** With what lies below the group, and what is shared with it. */
export function projectsOf({ group }: Pick<Wanted, 'group'>): RawBuilder<number> {
  return sql`select p.id from projects p
      join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group}
    union select project_id from project_shares where group_id = ${group}`
}

/** Without a value they come last, whichever way. */
const lastOf = (db: Db, sort: Sort, kind: 'date' | 'number') => {
  if (kind === 'number') return sql.lit(sort === 'asc' ? 2147483647 : -2147483648)
  if (isSqlite(db)) return sql.lit(sort === 'asc' ? '9999-12-31' : '0000-01-01')
  return sql.raw(sort === 'asc' ? `'infinity'::date` : `'-infinity'::date`)
}

const milestoneDue = (db: Db, sort: Sort) => sql`coalesce(issues.milestone_due, ${lastOf(db, sort, 'date')})`

const labelPriority = (db: Db, sort: Sort) => sql`coalesce(issues.label_priority, ${lastOf(db, sort, 'number')})`

const orders = {
  created_at: () => sql.ref('issues.created_at'),
  updated_at: () => sql.ref('issues.updated_at'),
  title: (db: Db) => sql.raw(binaryText(db, 'issues.title')),
  due_date: (db: Db, sort: Sort) => sql`coalesce(issues.due_date, ${lastOf(db, sort, 'date')})`,
  popularity: () => sql.ref('issues.upvotes'),
  weight: (db: Db, sort: Sort) => sql`coalesce(issues.weight, ${lastOf(db, sort, 'number')})`,
  relative_position: () => POSITION,
  milestone_due: milestoneDue,
  label_priority: labelPriority,
  // What ends first, and of that what matters most.
  priority: (db: Db, sort: Sort) => sql`${milestoneDue(db, sort)} ${sql.raw(sort)}, ${labelPriority(db, sort)}`,
}

export const isTheirs = (w: Pick<Wanted, 'seen_by'>) =>
  sql<boolean>`(issues.author_id = ${w.seen_by} or ${isAssigned(w.seen_by)})`

const usual = () => ['created_at', 'desc'] as const

/** Whoever sees the project and its issues sees those that are not confidential, and their own. */
export const ofProject = longList<Wanted, 'issues', IssueOrder, 'id'>({
  table: 'issues',
  columns: ['id'],
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions,
  visible: {
    open: { needs: 'seen_by', test: (_, { column }) => sql`not ${column('confidential')}` },
    own: { needs: 'seen_by', test: isTheirs, counted: [] },
  },
  orders,
  usual,
})

const openProject = ({ given }: Pick<At<Wanted>, 'given'>) =>
  ofItsProject(sql`p.issues_access_level = ${sql.lit(FeatureEnabled)}
    and p.visibility in (${sql.raw(given('internal_too') ? `'public', 'internal'` : `'public'`)})`)

/** A member below Reporter sees what is not confidential. */
const memberSees = (w: Pick<Wanted, 'seen_by'>) => sql<boolean>`exists (select 1 from project_authorizations t
  join projects p on p.id = t.project_id
  where t.user_id = ${w.seen_by} and t.project_id = issues.project_id and t.access_level >= ${sql.lit(Guest)}
  and p.issues_access_level > ${sql.lit(FeatureDisabled)}
  and (t.access_level >= ${sql.lit(Reporter)} or not issues.confidential or ${isTheirs(w)}))`

/** Whether it is open to the viewer, or theirs to see. */
export const isSeen = (w: Pick<Wanted, 'seen_by'>, at: Pick<At<Wanted>, 'given'>): RawBuilder<boolean> =>
  sql`(${memberSees(w)} or (${openProject(at)} and (not issues.confidential or ${isTheirs(w)})))`

export const ofAll = longList<Wanted, 'issues', IssueOrder, 'id'>({
  table: 'issues',
  columns: ['id'],
  facets: true,
  counted: ['projects'],
  followed: {},
  always: () => [ofItsProject(sql`not p.deleting`)],
  conditions,
  visible: {
    open: { needs: 'seen_by', test: (_, at) => sql`not issues.confidential and ${openProject(at)}` },
    own: {
      needs: 'seen_by',
      test: (w, at) => sql`(${memberSees(w)} or (${openProject(at)} and ${isTheirs(w)}))`,
      counted: ['project_authorizations'],
    },
  },
  orders,
  usual,
})

type Order = { order_by?: IssueOrder | null | undefined; sort?: Sort | null | undefined }

/** Of a project the viewer sees; where issues are off for them there are none. */
export async function listProjectIssues(
  app: App,
  subject: ProjectSubject,
  filter: IssueFilter & Order,
  cut: Cut,
): Promise<Page<{ id: number }>> {
  if (!issuesPolicy.readIssues(subject)) return { items: [], total: 0 }
  const { project, viewer, level } = subject
  const seen = level >= Reporter ? {} : { seen_by: viewer?.id ?? 0 }
  const wanted = wantedBy(app, viewer, filter)
  return wanted ? ofProject(app.db, { ...wanted, ...seen, project: project.id }, cut, filter) : { items: [], total: 0 }
}

/** Of all projects the viewer sees, or of those of a group. */
export async function listIssues(
  app: App,
  viewer: User | null,
  filter: IssueFilter & Order & { group?: number },
  cut: Cut,
): Promise<Page<{ id: number }>> {
  const wanted = wantedBy(app, viewer, filter)
  if (!wanted) return { items: [], total: 0 }
  const place = {
    ...(filter.group !== undefined && { group: filter.group }),
    ...((filter.non_archived ?? true) && { non_archived: true as const }),
  }
  return ofAll(app.db, { ...wanted, ...seenBy(viewer), ...place }, cut, filter)
}

/** Of a project, or of the projects of a group. */
export const listIssuesAt = (
  app: App,
  { project, namespace, viewer, level }: Place,
  filter: IssueFilter & Order,
  cut: Cut,
): Promise<Page<{ id: number }>> =>
  project
    ? listProjectIssues(app, { project, namespace, viewer, level, open: openVisibilities(viewer) }, filter, cut)
    : listIssues(app, viewer, { ...filter, group: namespace.id }, cut)

export function seenBy(viewer: User | null): Pick<Wanted, 'seen_by' | 'internal_too'> {
  const active = viewer?.state === 'active'
  if (active && viewer.admin) return {}
  const internal = openVisibilities(viewer).includes('internal')
  return { seen_by: active ? viewer.id : 0, ...(internal && { internal_too: true }) }
}

/** Null where nothing can match. */
function wantedBy(app: App, viewer: User | null, filter: IssueFilter): Wanted | null {
  const { db } = app
  const reader = { reader: viewer?.id ?? 0 }
  const wanted: Wanted = {
    ...(filter.state && filter.state !== 'all' && { state: filter.state }),
    ...(typeof filter.confidential === 'boolean' && { confidential: filter.confidential }),
    ...(filter.issue_type && { issue_type: filter.issue_type }),
    ...(filter.closed_by_id && { closed_by: filter.closed_by_id }),
    ...(filter.milestone_id !== undefined && { milestone_id: filter.milestone_id }),
    ...(filter.label_id !== undefined && { label_id: filter.label_id }),
    ...(filter.not?.label_ids && { not_label_ids: idList(db, filter.not.label_ids) }),
    ...(filter.iids && { iids: idList(db, filter.iids) }),
    ...(filter.not?.iids && { not_iids: idList(db, filter.not.iids) }),
    ...person('author', filter.author),
    ...person('not_author', filter.not?.author),
    ...person('not_assignee', filter.not?.assignee),
    ...(filter.assignee === 'none' || filter.assignee === 'any'
      ? { assigned: filter.assignee === 'any' }
      : person('assignee', filter.assignee)),
    ...labelsWanted(filter.labels),
    ...(filter.not?.labels && { not_labels: JSON.stringify(filter.not.labels) }),
    ...milestoneWanted(app, filter.milestone),
    ...(filter.not?.milestone && { not_milestone: filter.not.milestone }),
    ...reactionWanted(filter.my_reaction_emoji, reader),
    ...(filter.not?.my_reaction_emoji && { not_emoji: filter.not.my_reaction_emoji, ...reader }),
    ...dueWanted(app, filter.due_date),
    ...weightWanted(filter.weight),
    ...times(filter),
    ...wordsWanted(db, filter),
  }
  return [wanted.author, wanted.assignee].includes(NOBODY) ? null : wanted
}

/** No user has this id. */
const NOBODY = 0

const person = <K extends string>(name: K, id: number | null | undefined): { [key in K]?: number } =>
  typeof id === 'number' ? ({ [name]: id } as { [key in K]?: number }) : {}

function labelsWanted(labels: Named<string[]> | null | undefined): Wanted {
  if (!labels) return {}
  if (labels === 'none' || labels === 'any') return { labelled: labels === 'any' }
  const titles = [...new Set(labels)]
  return titles.length === 0 ? {} : { labels: JSON.stringify(titles), label_total: titles.length }
}

function milestoneWanted(app: App, milestone: IssueFilter['milestone']): Wanted {
  if (!milestone) return {}
  if (milestone === 'none' || milestone === 'any') return { planned: milestone === 'any' }
  if (milestone === 'upcoming' || milestone === 'started') return { [milestone]: today(app.clock) }
  return { milestone: milestone.title }
}

function reactionWanted(emoji: Named<{ name: string }> | null | undefined, reader: Pick<Wanted, 'reader'>): Wanted {
  if (!emoji) return {}
  if (emoji === 'none' || emoji === 'any') return { reacted: emoji === 'any', ...reader }
  return { emoji: emoji.name, ...reader }
}

function weightWanted(weight: Named<number> | null | undefined): Wanted {
  if (weight === null || weight === undefined) return {}
  return weight === 'none' || weight === 'any' ? { weighed: weight === 'any' } : { weight }
}

function times(filter: IssueFilter): Wanted {
  const { created_after, created_before, updated_after, updated_before } = filter
  return {
    ...(created_after && { created_after }),
    ...(created_before && { created_before }),
    ...(updated_after && { updated_after }),
    ...(updated_before && { updated_before }),
  }
}

const day = (clock: App['clock'], days: number) =>
  new Date(Date.parse(`${today(clock)}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

function dueWanted({ clock }: App, due: IssueFilter['due_date']): Wanted {
  const now = new Date(`${today(clock)}T00:00:00Z`)
  const monthsAhead = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 0)).toISOString().slice(0, 10)
  // Weeks begin on Monday.
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

/** Each word must occur; a quoted phrase is one. Those the index cannot find are looked for all the same. */
function wordsWanted(db: Db, { search, in: place }: IssueFilter): Wanted {
  const found = Array.from((search ?? '').matchAll(/"([^"]+)"|(\S+)/g), ([, phrase, word]) => (phrase ?? word!).trim())
  const longest = found.filter((word) => word !== '').toSorted((a, b) => b.length - a.length)
  if (longest.length === 0) return {}
  const wanted: Wanted = {
    ...(place === 'title' && { in_title: true }),
    ...(place === 'description' && { in_description: true }),
  }
  for (const [n, whole] of longest.slice(0, MOST_WORDS).entries()) {
    const word = Array.from(whole).slice(0, LONGEST_WORD).join('')
    wanted[`word${n}`] = word
    if (Array.from(word).length < SUBSTRING_FROM) continue
    const columns = place && isSqlite(db) ? `${place} : ` : ''
    wanted[`indexed_word${n}`] = columns + substring(db, word)
  }
  return wanted
}

/** How many there are of each state. */
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
