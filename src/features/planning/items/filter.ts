/** Filters that lists of all items have, under the parameter names of all API versions. */
import { z } from 'zod'
import { blankable, bool, int, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { badParameter } from '../../../errors.ts'
import { findUserByUsername } from '../../identity/users/queries.ts'
import type { NoneOrAny, PlannedFilter } from './conditions.ts'

/** In both spellings. */
export const SCOPES = ['created-by-me', 'assigned-to-me', 'created_by_me', 'assigned_to_me', 'all'] as const

/** An id, or `None` or `Any` in any case. 0 means no user. */
export const idNoneOrAny = z.preprocess(
  (value) => (typeof value === 'string' && /^(none|any)$/i.test(value) ? value.toLowerCase() : value),
  z.union([z.literal('none'), z.literal('any'), int]),
)

export const plannedExcluded = {
  labels: listOf(text).nullish(),
  milestone: text.nullish(),
  author_id: blankable(int),
  author_username: text.nullish(),
  assignee_id: blankable(int),
  assignee_username: listOf(text).nullish(),
  iids: listOf(int).nullish(),
  my_reaction_emoji: text.nullish(),
}

export const plannedInput = {
  labels: listOf(text).nullish(),
  milestone: text.nullish(),
  milestone_id: oneOf('None', 'Any', 'Upcoming', 'Started').nullish(),
  scope: oneOf(...SCOPES).nullish(),
  author_id: blankable(int),
  author_username: text.nullish(),
  assignee_id: blankable(idNoneOrAny),
  assignee_username: listOf(text).nullish(),
  my_reaction_emoji: text.nullish(),
  iids: listOf(int).nullish(),
  search: text.nullish(),
  in: text.nullish(),
  created_after: blankable(moment),
  created_before: blankable(moment),
  updated_after: blankable(moment),
  updated_before: blankable(moment),
  non_archived: bool.nullish(),
  not: z.object(plannedExcluded).nullish(),
}

type PlannedGiven = Omit<z.infer<z.ZodObject<typeof plannedInput>>, 'scope'> & { scope?: string | null | undefined }
/** 0 for an unknown username. */
export const findUserId = async ({ db }: App, username: string | null | undefined): Promise<number | null> =>
  username === null || username === undefined ? null : ((await findUserByUsername(db, username))?.id ?? 0)

/** The filter from the input, with users looked up. */
export async function plannedFrom(app: App, viewer: User | null, given: PlannedGiven): Promise<PlannedFilter> {
  const { author_id, author_username, assignee_id, assignee_username, not } = given
  refuseBoth(given, 'author_id', 'author_username')
  refuseBoth(given, 'assignee_id', 'assignee_username')
  const own = given.scope?.startsWith('created') ? { author: viewer?.id ?? 0 } : {}
  const mine = given.scope?.startsWith('assigned') ? { assignee: viewer?.id ?? 0 } : {}
  const { iids, search, created_after, created_before, updated_after, updated_before, non_archived } = given
  return {
    iids: iids?.length === 0 ? null : iids,
    search,
    created_after,
    created_before,
    updated_after,
    updated_before,
    non_archived,
    labels: labelsFrom(given.labels),
    milestone: milestoneFrom(given.milestone ?? given.milestone_id),
    author: author_id ?? (await findUserId(app, author_username)),
    assignee: assignee_id === 0 ? 'none' : (assignee_id ?? (await findUserId(app, assignee_username?.[0]))),
    my_reaction_emoji: wordOr(given.my_reaction_emoji, (name) => ({ name })),
    in: fieldFrom(given.in),
    not: {
      ...(not?.labels && { labels: not.labels }),
      ...(not?.milestone && { milestone: not.milestone }),
      ...(not?.iids && { iids: not.iids }),
      ...(not?.my_reaction_emoji && { my_reaction_emoji: not.my_reaction_emoji }),
      author: not?.author_id ?? (await findUserId(app, not?.author_username)) ?? undefined,
      assignee: not?.assignee_id ?? (await findUserId(app, not?.assignee_username?.[0])) ?? undefined,
    },
    ...own,
    ...mine,
  }
}

export function refuseBoth<K extends string>(given: { [name in K]?: unknown }, one: K, other: K): void {
  if (set(given[one]) && set(given[other])) throw badParameter(`${one}, ${other} are mutually exclusive`)
}

const set = (value: unknown) => value !== null && value !== undefined

function wordOr<T>(value: string | null | undefined, otherwise: (value: string) => T): NoneOrAny<T> | null {
  if (!value) return null
  const word = value.toLowerCase()
  return word === 'none' || word === 'any' ? word : otherwise(value)
}

/** `No Label` is the older spelling of `None`. */
function labelsFrom(labels: string[] | null | undefined): NoneOrAny<string[]> | null {
  const [first] = labels ?? []
  if (!labels || first === undefined) return null
  if (labels.length === 1 && first === 'No Label') return 'none'
  return labels.length === 1 ? wordOr(first, () => labels) : labels
}

function milestoneFrom(given: string | null | undefined): PlannedFilter['milestone'] {
  if (!given) return null
  const word = given.toLowerCase().replace(/^#/, '')
  if (given === 'No Milestone') return 'none'
  if (/^#?(upcoming|started)$/i.test(given) && (given.startsWith('#') || /^[US]/.test(given))) {
    return word as 'upcoming' | 'started'
  }
  return wordOr(given, (title) => ({ title }))
}

function fieldFrom(given: string | null | undefined): PlannedFilter['in'] {
  const fields = new Set((given ?? '').split(',').map((scope) => scope.trim()))
  if (fields.has('title') === fields.has('description')) return null
  return fields.has('title') ? 'title' : 'description'
}
