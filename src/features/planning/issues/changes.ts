/** The changes of an issue, in the words of system notes. */
import type { User } from '../../../context.ts'
import { toggledTasks } from '../../../lib/text/tasks.ts'
import type { Label } from '../labels/model.ts'
import type { Milestone } from '../milestones/model.ts'
import type { SystemNote } from '../notes/system.ts'
import { SEVERITIES, type Issue, type Severity } from './model.ts'

/** The state to compare before and after a change. */
export interface IssueState extends Pick<
  Issue,
  'title' | 'description' | 'state' | 'confidential' | 'discussion_locked' | 'due_date' | 'weight' | 'severity'
> {
  readonly milestone: Milestone | null
  readonly labels: readonly Label[]
  readonly assignees: readonly User[]
}

/**
 * What closes the issue, such as `commit 1234…`, and the project whose code a viewer must be able to read to see it.
 */
export interface Via {
  readonly name: string
  readonly project_id: number
}

export function notesOn(was: IssueState, is: IssueState, via?: Via): SystemNote[] {
  return [
    ...titleNotes(was, is),
    ...descriptionNotes(was, is),
    ...peopleNotes(was.assignees, is.assignees, { added: 'assigned to', gone: 'unassigned', none: 'removed assignee' }),
    ...labelNotes(was, is),
    ...milestoneNotes(was, is),
    ...dueNotes(was, is),
    ...weightNotes(was, is),
    ...severityNotes(was, is),
    ...confidentialNotes(was, is),
    ...lockNotes(was, is),
    ...stateNotes(was, is, via),
  ]
}

export function titleNotes(was: Pick<IssueState, 'title'>, is: Pick<IssueState, 'title'>): SystemNote[] {
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

type Described = Pick<IssueState, 'description'>

export function descriptionNotes(was: Described, is: Described): SystemNote[] {
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

const without = <T extends { readonly id: number }>(some: readonly T[], others: readonly T[]) =>
  some.filter(({ id }) => !others.some((other) => other.id === id))

interface PeopleWords {
  readonly added: string
  readonly gone: string
  /** The text where no user remains. */
  readonly none?: string
}

export function peopleNotes(was: readonly User[], is: readonly User[], words: PeopleWords): SystemNote[] {
  const [added, gone] = [without(is, was), without(was, is)]
  if (added.length === 0 && gone.length === 0) return []
  if (is.length === 0 && words.none !== undefined) return [{ action: 'assignee', body: words.none }]
  const parts = [
    ...(added.length > 0 ? [`${words.added} ${people(added)}`] : []),
    ...(gone.length > 0 ? [`${words.gone} ${people(gone)}`] : []),
  ]
  return [{ action: 'assignee', body: parts.join(' and ') }]
}

type Labelled = Pick<IssueState, 'labels'>

export function labelNotes(was: Labelled, is: Labelled): SystemNote[] {
  const [added, gone] = [without(is.labels, was.labels), without(was.labels, is.labels)]
  const total = added.length + gone.length
  if (total === 0) return []
  const named = (labels: readonly Label[]) => labels.map(({ id }) => `~${id}`).join(' ')
  const parts = [
    ...(added.length > 0 ? [`added ${named(added)}`] : []),
    ...(gone.length > 0 ? [`removed ${named(gone)}`] : []),
  ]
  return [{ action: 'label', body: `${parts.join(' and ')} ${total === 1 ? 'label' : 'labels'}` }]
}

type Planned = Pick<IssueState, 'milestone'>

export function milestoneNotes(was: Planned, is: Planned): SystemNote[] {
  if (was.milestone?.id === is.milestone?.id) return []
  const { milestone } = is
  if (!milestone) return [{ action: 'milestone', body: 'removed milestone' }]
  const name = milestone.project_id === null ? `"${milestone.title}"` : milestone.iid
  return [{ action: 'milestone', body: `changed milestone to %${name}` }]
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

function dueNotes(was: IssueState, is: IssueState): SystemNote[] {
  if (was.due_date === is.due_date) return []
  if (is.due_date === null) return [{ action: 'due_date', body: 'removed due date' }]
  const [year, month, day] = is.due_date.split('-').map(Number)
  return [{ action: 'due_date', body: `changed due date to ${MONTHS[month! - 1]} ${day}, ${year}` }]
}

function weightNotes(was: IssueState, is: IssueState): SystemNote[] {
  if (was.weight === is.weight) return []
  const body = is.weight === null ? 'removed the weight' : `changed weight to **${is.weight}**`
  return [{ action: 'weight', body }]
}

/** `Critical - S1` */
export function severityName(severity: Severity): string {
  const name = severity[0]!.toUpperCase() + severity.slice(1)
  return severity === 'unknown' ? name : `${name} - S${SEVERITIES.indexOf(severity) + 1}`
}

function severityNotes(was: IssueState, is: IssueState): SystemNote[] {
  if (was.severity === is.severity) return []
  return [{ action: 'severity', body: `set the severity to **${severityName(is.severity)}**` }]
}

function confidentialNotes(was: IssueState, is: IssueState): SystemNote[] {
  if (was.confidential === is.confidential) return []
  return is.confidential
    ? [{ action: 'confidential', body: 'made the issue confidential' }]
    : [{ action: 'visible', body: 'made the issue visible to everyone' }]
}

function lockNotes(was: IssueState, is: IssueState): SystemNote[] {
  if (Boolean(was.discussion_locked) === Boolean(is.discussion_locked)) return []
  return is.discussion_locked
    ? [{ action: 'locked', body: 'locked the discussion in this issue' }]
    : [{ action: 'unlocked', body: 'unlocked the discussion in this issue' }]
}

function stateNotes(was: IssueState, is: IssueState, via?: Via): SystemNote[] {
  if (was.state === is.state) return []
  if (is.state === 'opened') return [{ action: 'opened', body: 'reopened' }]
  return [
    via === undefined
      ? { action: 'closed', body: 'closed' }
      : { action: 'closed', body: `closed via ${via.name}`, about: { project_id: via.project_id } },
  ]
}
