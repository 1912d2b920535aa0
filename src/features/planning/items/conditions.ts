/** List conditions that all kinds of items share: their tables have the same columns and links. */
import { sql, type RawBuilder } from 'kysely'
import { today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import {
  SUBSTRING_FROM,
  matchingIds,
  idList,
  inIdList,
  inTextList,
  isSqlite,
  isWithin,
  substring,
  textList,
} from '../../../store/dialect.ts'
import { leading, type At, type Condition, type Sort } from '../../../store/lists.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { isOpen } from '../seeing.ts'
import type { ItemKind } from './kind.ts'

type ConditionKind = Pick<ItemKind, 'table' | 'column'>

export type NoneOrAny<T> = T | 'none' | 'any'

export interface PlannedFilter {
  state?: 'opened' | 'closed' | 'merged' | 'all' | null | undefined
  labels?: NoneOrAny<string[]> | null | undefined
  milestone?: NoneOrAny<{ title: string }> | 'upcoming' | 'started' | null | undefined
  author?: number | null | undefined
  assignee?: NoneOrAny<number> | null | undefined
  my_reaction_emoji?: NoneOrAny<{ name: string }> | null | undefined
  /** By id, not by title. */
  milestone_id?: number
  label_id?: number
  iids?: number[] | null | undefined
  search?: string | null | undefined
  in?: 'title' | 'description' | null | undefined
  created_after?: string | null | undefined
  created_before?: string | null | undefined
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
  non_archived?: boolean | null | undefined
  not?: {
    labels?: string[] | undefined
    label_ids?: readonly number[] | undefined
    milestone?: string | undefined
    author?: number | undefined
    assignee?: number | undefined
    iids?: number[] | undefined
    my_reaction_emoji?: string | undefined
  }
}

/** Further words are ignored. */
const MOST_WORDS = 8
/** The rest of a longer word is ignored. */
const LONGEST_WORD = 100
type WordName = `word${number}`

/** The values of list conditions. An absent value is no condition. */
export interface PlannedValues {
  project?: number
  state?: 'opened' | 'closed' | 'merged'
  group?: number
  non_archived?: true
  author?: number
  not_author?: number
  assignee?: number
  not_assignee?: number
  assigned?: boolean
  /** A list of titles as one query parameter, and its length. */
  labels?: string
  label_total?: number
  not_labels?: string
  labelled?: boolean
  milestone?: string
  not_milestone?: string
  planned?: boolean
  /** Today. */
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
  /** The user whose reactions are meant. */
  reader?: number
  created_after?: string
  created_before?: string
  updated_after?: string
  updated_before?: string
  in_title?: true
  in_description?: true
  /** Absent for administrators; 0 for anonymous viewers. */
  seen_by?: number
  internal_too?: true
  /** The word itself, and the word in the form of the substring index, which short words cannot use. */
  [word: WordName | `indexed_${WordName}`]: string | undefined
}

type Here = At<PlannedValues>
type Conditions = { [name in keyof PlannedValues]?: Condition<PlannedValues> }

/** Active milestones of the project or its groups with the next due date. */
const upcoming = (
  w: PlannedValues,
) => sql`select m.id from milestones m where m.state = 'active' and m.due_date >= ${w.upcoming}
  and not exists (select 1 from milestones s where s.state = 'active' and s.due_date >= ${w.upcoming}
    and s.due_date < m.due_date and (s.project_id = m.project_id or s.group_id = m.group_id))`

const milestonesTitled = (w: PlannedValues, { given }: Here, title: string) =>
  sql`select m.id from milestones m where m.title = ${title}
    ${given('project') ? sql`and (m.project_id = ${w.project} or m.project_id is null)` : sql``}`

export const not = (test: RawBuilder<boolean>): RawBuilder<boolean> => sql`not ${test}`
export const either = (expected: boolean | undefined, test: RawBuilder<boolean>): RawBuilder<boolean> =>
  sql`${test} = ${expected}`

/** A condition on the row's project `p`. Not `exists`: PostgreSQL would read all projects, once per page. */
export const ofItsProject =
  ({ table }: ConditionKind) =>
  (test: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql`coalesce((select ${test} from projects p where p.id = ${sql.ref(`${table}.project_id`)}), false)`

/** Whether the project `p` is open to the viewer without a membership. */
export const isOpenProject = ({ given }: Pick<At<PlannedValues>, 'given'>): RawBuilder<boolean> =>
  isOpen({ internalToo: given('internal_too') })

/** Projects below the group, and projects shared with it. */
export function projectsOf({ group }: { group?: number }): RawBuilder<number> {
  return sql`select p.id from projects p
      join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group}
    union select project_id from project_shares where group_id = ${group}`
}

/** Whether a user is linked to a row: as an assignee or a reviewer. */
export const isLinked =
  ({ table, column }: ConditionKind, links: string) =>
  (user: number | undefined): RawBuilder<boolean> =>
    sql`exists (select 1 from ${sql.table(links)} a
      where ${sql.ref(`a.${column}`)} = ${sql.ref(`${table}.id`)} and a.user_id = ${user})`

/** Such links contain the creation time of the row. */
export const linksTo = <V extends PlannedValues>(
  { column }: ConditionKind,
  links: string,
  user: (values: V) => number | undefined,
): Condition<V>['links'] => ({
  table: links,
  key: column,
  test: (values) => sql`led.user_id = ${user(values)}`,
  orders: { created_at: 'since' },
})

/** No `exists`, for the same reason. */
export const hasAny = (links: RawBuilder<unknown>) => sql<boolean>`coalesce((select true ${links} limit 1), false)`

/** The conditions of `first` match few rows, so that rows can be collected by them. */
export function plannedConditions(kind: ItemKind): { first: Conditions; rest: Conditions } {
  const { table, column: link, people } = kind
  const rows = sql.table(table)
  const by = sql.ref(link)
  const assignees = sql.table(people.assignees)
  const isAssigned = isLinked(kind, people.assignees)
  const linked = (alias: string) => sql<boolean>`${sql.ref(`${alias}.${link}`)} = ${sql.ref(`${table}.id`)}`
  const labelLinks = sql`from ${sql.table(kind.labels)} il`

  const titled = (w: PlannedValues, { db, given }: Here, list: string) =>
    sql`${labelLinks} join labels l on l.id = il.label_id
    where ${inTextList(db, 'l.title', list)}
    ${given('project') ? sql`and (l.project_id = ${w.project} or l.project_id is null)` : sql``}`

  const reaction = (w: PlannedValues, name: RawBuilder<unknown>) =>
    sql<boolean>`exists (select 1 from award_emoji e where ${linked('e')} and e.user_id = ${w.reader} ${name})`

  /**
   * A row that is unchanged since a moment was also created before it. The condition follows from the other one, and
   * tells the walk where to begin. A few rows have a creation time after their last change.
   */
  const createdBefore = (w: PlannedValues, { db, column, given }: Here, moment: string) => {
    const odd = sql`(select max(o.created_at) from ${rows} o where o.updated_at < o.created_at
      ${given('project') ? sql`and o.project_id = ${w.project}` : sql``})`
    const latest = isSqlite(db) ? sql.raw('max') : sql.raw('greatest')
    return sql<boolean>`${column('created_at')} <= ${latest}(${moment}, coalesce(${odd}, ${moment}))`
  }

  /** A word anywhere in the title or the description, or only in one of them. */
  const wordCondition = (name: WordName): Condition<PlannedValues> => {
    const columnsOf = (given: Here['given']) =>
      given('in_title') ? ['title'] : given('in_description') ? ['description'] : ['title', 'description']
    return {
      test(w, { db, given }) {
        const matches = columnsOf(given).map((column) => isWithin(db, `${table}.${column}`, w[name]!))
        return sql`(${sql.join(matches, sql` or `)})`
      },
      set(w, { db, given }) {
        const indexed = `indexed_${name}` as const
        return given(indexed) ? matchingIds(db, table, columnsOf(given), w[indexed]!) : undefined
      },
    }
  }
  const words = Object.fromEntries(
    Array.from({ length: MOST_WORDS }, (_, n) => [`word${n}`, wordCondition(`word${n}`)]),
  ) as { [name in WordName]: Condition<PlannedValues> }

  const inItsProject = ofItsProject(kind)
  const first: Conditions = {
    iids: {
      test: (w, { db }) => inIdList(db, `${table}.iid`, w.iids!),
      set: (w, { db, given }) =>
        given('project')
          ? sql`select i.id from ${rows} i where i.project_id = ${w.project} and ${inIdList(db, 'i.iid', w.iids!)}`
          : undefined,
    },
    author: {
      test: (w, { column, hidden, order }) =>
        sql`${(order === 'created_at' ? column : hidden)('author_id')} = ${w.author}`,
      set: (w) => sql`select id from ${rows} where author_id = ${w.author}`,
      leads: ['created_at'],
    },
    assignee: {
      test: (w) => isAssigned(w.assignee),
      set: (w) => sql`select ${by} from ${assignees} where user_id = ${w.assignee}`,
      links: linksTo(kind, people.assignees, (w) => w.assignee),
    },
    emoji: {
      test: (w) => reaction(w, sql`and e.name = ${w.emoji}`),
      set: (w) => sql`select ${by} from award_emoji
        where user_id = ${w.reader} and name = ${w.emoji} and ${by} is not null`,
    },
    milestone: {
      test: (w, at) => sql`${at.hidden('milestone_id')} in (${milestonesTitled(w, at, w.milestone!)})`,
      set: (w, at) => sql`select id from ${rows} where milestone_id in (${milestonesTitled(w, at, w.milestone!)})`,
      scoped: ['milestones'],
    },
    milestone_id: {
      test: (w, { hidden }) => sql`${hidden('milestone_id')} = ${w.milestone_id}`,
      set: (w) => sql`select id from ${rows} where milestone_id = ${w.milestone_id}`,
    },
    label_id: {
      test: (w) => sql`exists (select 1 ${labelLinks} where ${linked('il')} and il.label_id = ${w.label_id})`,
      set: (w) => sql`select il.${by} ${labelLinks} where label_id = ${w.label_id}`,
    },
    upcoming: {
      test: (w, { hidden }) => sql`${hidden('milestone_id')} in (${upcoming(w)})`,
      set: (w) => sql`select id from ${rows} where milestone_id in (${upcoming(w)})`,
      scoped: ['milestones'],
    },
    started: {
      test: (w, { hidden }) =>
        sql`${hidden('milestone_id')} in (select m.id from milestones m where m.start_date <= ${w.started})`,
      scoped: ['milestones'],
    },
    labels: {
      test: (w, at) => sql`(select count(distinct l.title) ${titled(w, at, w.labels!)}
        and ${linked('il')}) = ${w.label_total}`,
      set: (w, at) => sql`select il.${by} ${titled(w, at, w.labels!)}
        group by il.${by} having count(distinct l.title) = ${w.label_total}`,
      scoped: ['labels'],
    },
    ...words,
    group: {
      test: (w) => sql`${inItsProject(sql`exists (select 1 from namespace_ancestors a
          where a.namespace_id = p.namespace_id and a.ancestor_id = ${w.group})`)}
        or ${inItsProject(sql`exists (select 1 from project_shares s where s.project_id = p.id and s.group_id = ${w.group})`)}`,
      set: (w) => sql`select i.id from ${rows} i where i.project_id in (${projectsOf(w)})`,
      counted: ['projects', 'namespaces', 'project_shares'],
    },
  }
  const rest: Conditions = {
    non_archived: { facet: true, test: () => inItsProject(sql`not p.archived`) },
    assigned: { test: (w) => either(w.assigned, hasAny(sql`from ${assignees} a where ${linked('a')}`)) },
    labelled: { test: (w) => either(w.labelled, hasAny(sql`${labelLinks} where ${linked('il')}`)) },
    planned: { test: (w, { hidden }) => either(w.planned, sql`(${hidden('milestone_id')} is not null)`) },
    reacted: { test: (w) => either(w.reacted, reaction(w, sql``)) },
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
      test: (w, at) => sql`not exists (select 1 ${titled(w, at, w.not_labels!)} and ${linked('il')})`,
      scoped: ['labels'],
    },
    not_label_ids: {
      test: (w, { db }) => sql`not exists (select 1 ${labelLinks}
        where ${linked('il')} and ${inIdList(db, 'il.label_id', w.not_label_ids!)})`,
    },
    not_milestone: {
      test: (w, at) => sql`coalesce(${sql.ref(`${table}.milestone_id`)}
        not in (${milestonesTitled(w, at, w.not_milestone!)}), true)`,
      scoped: ['milestones'],
    },
    not_iids: { test: (w, { db }) => sql`not ${inIdList(db, `${table}.iid`, w.not_iids!)}` },
    not_emoji: { test: (w) => not(reaction(w, sql`and e.name = ${w.not_emoji}`)) },
  }
  return { first, rest }
}

/** Rows without a value come last, in either direction. */
export const lastOf = (db: Db, sort: Sort, kind: 'date' | 'moment' | 'number'): RawBuilder<unknown> => {
  if (kind === 'number') return sql.lit(sort === 'asc' ? 2147483647 : -2147483648)
  if (isSqlite(db)) return sql.lit(sort === 'asc' ? '9999-12-31' : '0000-01-01')
  return sql.raw(`'${sort === 'asc' ? '' : '-'}infinity'::${kind === 'date' ? 'date' : 'timestamptz'}`)
}

export function seenBy(viewer: User | null): Pick<PlannedValues, 'seen_by' | 'internal_too'> {
  const active = viewer?.state === 'active'
  if (active && viewer.admin) return {}
  const internal = openVisibilities(viewer).includes('internal')
  return { seen_by: active ? viewer.id : 0, ...(internal && { internal_too: true }) }
}

export function plannedValues(app: App, viewer: User | null, filter: PlannedFilter): PlannedValues {
  const { db } = app
  const reader = { reader: viewer?.id ?? 0 }
  return {
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
    ...labelValues(db, filter.labels),
    ...(filter.not?.labels && { not_labels: textList(db, filter.not.labels) }),
    ...milestoneValues(app, filter.milestone),
    ...(filter.not?.milestone && { not_milestone: filter.not.milestone }),
    ...reactionValues(filter.my_reaction_emoji, reader),
    ...(filter.not?.my_reaction_emoji && { not_emoji: filter.not.my_reaction_emoji, ...reader }),
    ...times(filter),
    ...wordValues(db, filter),
  }
}

/** No user has this id. */
export const NOBODY = 0

export const person = <K extends string>(name: K, id: number | null | undefined): { [key in K]?: number } =>
  typeof id === 'number' ? ({ [name]: id } as { [key in K]?: number }) : {}

function labelValues(db: Db, labels: NoneOrAny<string[]> | null | undefined): PlannedValues {
  if (!labels) return {}
  if (labels === 'none' || labels === 'any') return { labelled: labels === 'any' }
  const titles = [...new Set(labels)]
  return titles.length === 0 ? {} : { labels: textList(db, titles), label_total: titles.length }
}

function milestoneValues(app: App, milestone: PlannedFilter['milestone']): PlannedValues {
  if (!milestone) return {}
  if (milestone === 'none' || milestone === 'any') return { planned: milestone === 'any' }
  if (milestone === 'upcoming' || milestone === 'started') return { [milestone]: today(app.clock) }
  return { milestone: milestone.title }
}

function reactionValues(
  emoji: NoneOrAny<{ name: string }> | null | undefined,
  reader: Pick<PlannedValues, 'reader'>,
): PlannedValues {
  if (!emoji) return {}
  if (emoji === 'none' || emoji === 'any') return { reacted: emoji === 'any', ...reader }
  return { emoji: emoji.name, ...reader }
}

function times(filter: PlannedFilter): PlannedValues {
  const { created_after, created_before, updated_after, updated_before } = filter
  return {
    ...(created_after && { created_after }),
    ...(created_before && { created_before }),
    ...(updated_after && { updated_after }),
    ...(updated_before && { updated_before }),
  }
}

/**
 * Every word must occur; a quoted phrase is one word. Words too short for the index count only where no longer one
 * exists.
 */
function wordValues(db: Db, { search, in: field }: PlannedFilter): PlannedValues {
  const found = Array.from((search ?? '').matchAll(/"([^"]+)"|(\S+)/g), ([, phrase, word]) => (phrase ?? word!).trim())
  const words = found.filter((word) => word !== '')
  const long = words.filter((word) => Array.from(word).length >= SUBSTRING_FROM)
  const longest = (long.length > 0 ? long : words).toSorted((a, b) => b.length - a.length)
  if (longest.length === 0) return {}
  const values: PlannedValues = {
    ...(field === 'title' && { in_title: true }),
    ...(field === 'description' && { in_description: true }),
  }
  for (const [n, whole] of longest.slice(0, MOST_WORDS).entries()) {
    const word = Array.from(whole).slice(0, LONGEST_WORD).join('')
    values[`word${n}`] = word
    if (Array.from(word).length < SUBSTRING_FROM) continue
    const columns = field && isSqlite(db) ? `${field} : ` : ''
    values[`indexed_word${n}`] = columns + substring(db, word)
  }
  return values
}
