/** What lists of issues can be narrowed by, as clients of every era write it. */
import { z } from 'zod'
import { blankable, bool, id, int, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { badParameter } from '../../../errors.ts'
import type { App, User } from '../../../context.ts'
import { findUserByUsername } from '../../identity/users/queries.ts'
import { ISSUE_TYPES } from './model.ts'

export type Named<T> = T | 'none' | 'any'

export interface IssueFilter {
  state?: 'opened' | 'closed' | 'all' | null | undefined
  labels?: Named<string[]> | null | undefined
  milestone?: Named<{ title: string }> | 'upcoming' | 'started' | null | undefined
  author?: number | null | undefined
  assignee?: Named<number> | null | undefined
  my_reaction_emoji?: Named<{ name: string }> | null | undefined
  /** Of these two the records themselves, not their titles. */
  milestone_id?: number
  label_id?: number
  iids?: number[] | null | undefined
  search?: string | null | undefined
  in?: 'title' | 'description' | null | undefined
  confidential?: boolean | null | undefined
  created_after?: string | null | undefined
  created_before?: string | null | undefined
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
  due_date?: (typeof DUE)[number] | null | undefined
  issue_type?: string | null | undefined
  closed_by_id?: number | null | undefined
  weight?: Named<number> | null | undefined
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

const DUE = ['0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month', 'next_month_and_previous_two_weeks'] as const

const scope = oneOf('created-by-me', 'assigned-to-me', 'created_by_me', 'assigned_to_me', 'all')
/** An id, or `None` or `Any` in any case; 0 is nobody. */
const idOrNamed = z.preprocess(
  (value) => (typeof value === 'string' && /^(none|any)$/i.test(value) ? value.toLowerCase() : value),
  z.union([z.literal('none'), z.literal('any'), int]),
)

const excluded = z.object({
  labels: listOf(text).nullish(),
  milestone: text.nullish(),
  author_id: int.nullish(),
  author_username: text.nullish(),
  assignee_id: int.nullish(),
  assignee_username: listOf(text).nullish(),
  iids: listOf(int).nullish(),
  my_reaction_emoji: text.nullish(),
})

export const filterInput = {
  state: oneOf('opened', 'closed', 'all').nullish(),
  labels: listOf(text).nullish(),
  milestone: text.nullish(),
  milestone_id: oneOf('None', 'Any', 'Upcoming', 'Started').nullish(),
  scope: scope.nullish(),
  author_id: int.nullish(),
  author_username: text.nullish(),
  assignee_id: blankable(idOrNamed),
  assignee_username: listOf(text).nullish(),
  my_reaction_emoji: text.nullish(),
  iids: listOf(int).nullish(),
  search: text.nullish(),
  in: text.nullish(),
  confidential: bool.nullish(),
  created_after: moment.nullish(),
  created_before: moment.nullish(),
  updated_after: moment.nullish(),
  updated_before: moment.nullish(),
  due_date: oneOf(...DUE).nullish(),
  issue_type: oneOf(...ISSUE_TYPES).nullish(),
  closed_by_id: id.nullish(),
  weight: blankable(idOrNamed),
  non_archived: bool.nullish(),
  not: excluded.nullish(),
}

type Given = z.infer<z.ZodObject<typeof filterInput>>

/** As it was given, with the people it names looked up; whom nobody knows is user 0. */
export async function filterFrom(app: App, viewer: User | null, given: Given): Promise<IssueFilter> {
  const { author_id, author_username, assignee_id, assignee_username, not } = given
  if (set(author_id) && set(author_username)) throw exclusive('author_id', 'author_username')
  if (set(assignee_id) && set(assignee_username)) throw exclusive('assignee_id', 'assignee_username')
  const named = async (username: string | null | undefined) =>
    username === null || username === undefined ? null : ((await findUserByUsername(app.db, username))?.id ?? 0)
  const own = given.scope?.startsWith('created') ? { author: viewer?.id ?? 0 } : {}
  const mine = given.scope?.startsWith('assigned') ? { assignee: viewer?.id ?? 0 } : {}
  const { milestone_id, ...plain } = given
  return {
    ...plain,
    labels: labelsFrom(given.labels),
    milestone: milestoneFrom(given.milestone ?? milestone_id),
    author: author_id ?? (await named(author_username)),
    assignee: assignee_id === 0 ? 'none' : (assignee_id ?? (await named(assignee_username?.[0]))),
    my_reaction_emoji: wordOr(given.my_reaction_emoji, (name) => ({ name })),
    in: placeFrom(given.in),
    not: {
      ...(not?.labels && { labels: not.labels }),
      ...(not?.milestone && { milestone: not.milestone }),
      ...(not?.iids && { iids: not.iids }),
      ...(not?.my_reaction_emoji && { my_reaction_emoji: not.my_reaction_emoji }),
      author: not?.author_id ?? (await named(not?.author_username)) ?? undefined,
      assignee: not?.assignee_id ?? (await named(not?.assignee_username?.[0])) ?? undefined,
    },
    ...own,
    ...mine,
  }
}

const set = (value: unknown) => value !== null && value !== undefined

const exclusive = (one: string, other: string) => badParameter(`${one}, ${other} are mutually exclusive`)

function wordOr<T>(value: string | null | undefined, otherwise: (value: string) => T): Named<T> | null {
  if (!value) return null
  const word = value.toLowerCase()
  return word === 'none' || word === 'any' ? word : otherwise(value)
}

/** `No Label` is the older spelling of `None`. */
function labelsFrom(labels: string[] | null | undefined): Named<string[]> | null {
  const [first] = labels ?? []
  if (!labels || first === undefined) return null
  if (labels.length === 1 && first === 'No Label') return 'none'
  return labels.length === 1 ? wordOr(first, () => labels) : labels
}

function milestoneFrom(given: string | null | undefined): IssueFilter['milestone'] {
  if (!given) return null
  const word = given.toLowerCase().replace(/^#/, '')
  if (given === 'No Milestone') return 'none'
  if (/^#?(upcoming|started)$/i.test(given) && (given.startsWith('#') || /^[US]/.test(given))) {
    return word as 'upcoming' | 'started'
  }
  return wordOr(given, (title) => ({ title }))
}

function placeFrom(given: string | null | undefined): IssueFilter['in'] {
  const places = new Set((given ?? '').split(',').map((place) => place.trim()))
  if (places.has('title') === places.has('description')) return null
  return places.has('title') ? 'title' : 'description'
}
