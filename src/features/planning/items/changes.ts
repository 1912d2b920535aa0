/** The state of an item before and after a change, and the change in the words of system notes. */
import type { User } from '../../../context.ts'
import { mayRefer } from '../../../lib/text/references.ts'
import { toggledTasks } from '../../../lib/text/tasks.ts'
import type { Label } from '../labels/model.ts'
import type { Milestone } from '../milestones/model.ts'
import type { SystemNote } from '../notes/system.ts'
import type { ItemKind, ItemRow } from './kind.ts'
import { missingIn, type Linked } from './links.ts'

/** The state to compare before and after a change. */
export interface ItemState extends Pick<ItemRow, 'title' | 'description' | 'state' | 'discussion_locked'>, Linked {
  readonly milestone: Milestone | null
}

/** Old and new value per field; ids where a field refers to records. */
export type ItemChanges = { [field: string]: readonly [unknown, unknown] }

const TEXTS = ['title', 'description']

/** Whether a changed text may have references, before or after the change. */
export const mayReferChanged = (changes: ItemChanges): boolean =>
  TEXTS.some((field) => changes[field]?.some((text) => mayRefer((text as string | null) ?? '')))

/** Whether a changed text may have references now. */
export const mayReferAfter = (changes: ItemChanges): boolean =>
  TEXTS.some((field) => changes[field] !== undefined && mayRefer((changes[field][1] as string | null) ?? ''))

const LINKED = [
  ['labels', 'label_ids'],
  ['assignees', 'assignee_ids'],
  ['reviewers', 'reviewer_ids'],
] as const

/** Compares the fields of all items, and more plain fields of a kind. */
export function changesBetween<S extends ItemState>(was: S, is: S, fields: readonly (keyof S & string)[]): ItemChanges {
  const changes: ItemChanges = {}
  for (const field of ['title', 'description', 'state', 'discussion_locked', ...fields] as const)
    if (was[field] !== is[field]) changes[field] = [was[field], is[field]]
  const ids = (some: readonly { readonly id: number }[] = []) => some.map(({ id }) => id).toSorted((a, b) => a - b)
  for (const [field, name] of LINKED) {
    const [before, after] = [ids(was[field]), ids(is[field])]
    if (before.join() !== after.join()) changes[name] = [before, after]
  }
  const [before, after] = [was.milestone?.id ?? null, is.milestone?.id ?? null]
  if (before !== after) changes['milestone_id'] = [before, after]
  return changes
}

/** What closes the item, such as `commit 1234…`, and the project whose code a viewer must be able to read to see it. */
export interface Via {
  readonly name: string
  readonly project_id: number
}

/** The notes of a change. `own` are those of fields that only this kind has. */
export const changeNotes = (
  { noun }: Pick<ItemKind, 'noun'>,
  was: ItemState,
  is: ItemState,
  own: readonly SystemNote[],
  via?: Via,
): SystemNote[] => [
  ...titleNotes(was, is),
  ...descriptionNotes(was, is),
  ...peopleNotes(ASSIGNEE_WORDS, was.assignees, is.assignees),
  ...peopleNotes(REVIEWER_WORDS, was.reviewers, is.reviewers),
  ...labelNotes(was, is),
  ...milestoneNotes(was, is),
  ...own,
  ...lockNotes(noun, was, is),
  ...stateNotes(was, is, via),
]

function titleNotes(was: ItemState, is: ItemState): SystemNote[] {
  if (was.title === is.title) return []
  const [gone, added] = marked(was.title, is.title)
  return [{ action: 'title', body: `changed title from **${gone}** to **${added}**` }]
}

/** Both texts with the differing part marked. */
function marked(was: string, is: string): readonly [string, string] {
  const [a, b] = [Array.from(was), Array.from(is)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const mark = (text: string[], sign: string) => {
    const middle = text.slice(start, text.length - end).join('')
    const changed = middle === '' ? '' : `{${sign}${middle}${sign}}`
    return `${text.slice(0, start).join('')}${changed}${text.slice(text.length - end).join('')}`
  }
  return [mark(a, '-'), mark(b, '+')]
}

function descriptionNotes(was: ItemState, is: ItemState): SystemNote[] {
  const [before, after] = [was.description ?? '', is.description ?? '']
  if (before === after) return []
  const toggled = toggledTasks(before, after)
  if (!toggled || toggled.length === 0) return [{ action: 'description', body: 'changed the description' }]
  return toggled.map(({ text, checked }) => ({
    action: 'task' as const,
    body: `marked the task **${text}** as ${checked ? 'completed' : 'incomplete'}`,
  }))
}

/** `@a`, `@a and @b`, `@a, @b, and @c`. */
function people(users: readonly User[]): string {
  const names = users.map(({ username }) => `@${username}`)
  if (names.length < 3) return names.join(' and ')
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`
}

interface PeopleWords {
  readonly added: string
  readonly gone: string
  /** The text where no user remains. */
  readonly none?: string
}

const ASSIGNEE_WORDS = { added: 'assigned to', gone: 'unassigned', none: 'removed assignee' }
const REVIEWER_WORDS = { added: 'requested review from', gone: 'removed review request for' }

function peopleNotes(words: PeopleWords, was: readonly User[] = [], is: readonly User[] = []): SystemNote[] {
  const [added, gone] = [missingIn(was, is), missingIn(is, was)]
  if (added.length === 0 && gone.length === 0) return []
  if (is.length === 0 && words.none !== undefined) return [{ action: 'assignee', body: words.none }]
  const parts = [
    ...(added.length > 0 ? [`${words.added} ${people(added)}`] : []),
    ...(gone.length > 0 ? [`${words.gone} ${people(gone)}`] : []),
  ]
  return [{ action: 'assignee', body: parts.join(' and ') }]
}

function labelNotes(was: ItemState, is: ItemState): SystemNote[] {
  const [added, gone] = [missingIn(was.labels, is.labels), missingIn(is.labels, was.labels)]
  const total = added.length + gone.length
  if (total === 0) return []
  const named = (labels: readonly Label[]) => labels.map(({ id }) => `~${id}`).join(' ')
  const parts = [
    ...(added.length > 0 ? [`added ${named(added)}`] : []),
    ...(gone.length > 0 ? [`removed ${named(gone)}`] : []),
  ]
  return [{ action: 'label', body: `${parts.join(' and ')} ${total === 1 ? 'label' : 'labels'}` }]
}

function milestoneNotes(was: ItemState, is: ItemState): SystemNote[] {
  if (was.milestone?.id === is.milestone?.id) return []
  const { milestone } = is
  if (!milestone) return [{ action: 'milestone', body: 'removed milestone' }]
  const name = milestone.project_id === null ? `"${milestone.title}"` : milestone.iid
  return [{ action: 'milestone', body: `changed milestone to %${name}` }]
}

function lockNotes(noun: ItemKind['noun'], was: ItemState, is: ItemState): SystemNote[] {
  if (Boolean(was.discussion_locked) === Boolean(is.discussion_locked)) return []
  const action = is.discussion_locked ? 'locked' : 'unlocked'
  return [{ action, body: `${action} the discussion in this ${noun}` }]
}

function stateNotes(was: ItemState, is: ItemState, via?: Via): SystemNote[] {
  if (was.state === is.state) return []
  if (is.state === 'opened') return [{ action: 'opened', body: 'reopened' }]
  return [
    via === undefined
      ? { action: 'closed', body: 'closed' }
      : { action: 'closed', body: `closed via ${via.name}`, about: { project_id: via.project_id } },
  ]
}
