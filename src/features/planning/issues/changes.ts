/** The changes of an issue, in the words of system notes. */
import { changeNotes, type ItemState, type Via } from '../items/changes.ts'
import type { SystemNote } from '../notes/system.ts'
import { issueKind } from './kind.ts'
import { SEVERITIES, type Issue, type Severity } from './model.ts'

/** Fields that only issues have. */
export const ISSUE_FIELDS = ['confidential', 'due_date', 'weight', 'severity'] as const

/** The state to compare before and after a change. */
export type IssueState = ItemState & Pick<Issue, 'state' | (typeof ISSUE_FIELDS)[number]>

export const issueNotes = (was: IssueState, is: IssueState, via?: Via): SystemNote[] =>
  changeNotes(
    issueKind,
    was,
    is,
    [...dueNotes(was, is), ...weightNotes(was, is), ...severityNotes(was, is), ...confidentialNotes(was, is)],
    via,
  )

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
