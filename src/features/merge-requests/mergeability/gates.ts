/**
 * Merge checks: every reason that blocks a merge, its state, and who can resolve it. List fields, the detail record,
 * merge refusals and the mergeability endpoint all derive from here.
 */
import type { CheckResult, MergeRequest } from '../merge-requests/model.ts'

/** The input of the checks. No check loads anything itself. */
export interface MergeFacts {
  readonly state: MergeRequest['state']
  readonly draft: boolean
  /** For the current commits. Null: not checked yet. */
  readonly check: CheckResult | null
  readonly conflicts: readonly string[]
  /** The source must be on top of the target's tip, and is not. */
  readonly needsRebase: boolean
  readonly discussions: { readonly required: boolean; readonly unresolved: number }
  readonly approvals: { readonly required: number; readonly left: number }
  /** The status of the head's pipeline. Null if it has none. */
  readonly pipeline: { readonly required: boolean; readonly status: string | null }
  /** The number of dependencies that are not merged. */
  readonly blockedBy: number
  /** The number of reviewers who requested changes. */
  readonly changesRequested: number
}

export const GATES = [
  'open',
  'draft',
  'dependencies',
  'changes_requested',
  'discussions',
  'approvals',
  'pipeline',
  'commits',
  'conflict',
  'rebase',
] as const
export type GateName = (typeof GATES)[number]

export interface Gate {
  readonly name: GateName
  /** `off`: not required here. */
  readonly state: 'passed' | 'blocked' | 'waiting' | 'off'
  /** Why the check blocks. */
  readonly reason: string | null
  /** Who can resolve it. */
  readonly lift: readonly Lifter[]
}

export type Lifter = 'author' | 'developers' | 'approvers' | 'reviewers' | 'pipeline' | 'server' | 'nobody'

const passed = (name: GateName): Gate => ({ name, state: 'passed', reason: null, lift: [] })
const off = (name: GateName): Gate => ({ name, state: 'off', reason: null, lift: [] })
const blocked = (name: GateName, reason: string, lift: readonly Lifter[]): Gate => ({
  name,
  state: 'blocked',
  reason,
  lift,
})
const waiting = (name: GateName, reason: string, lift: readonly Lifter[]): Gate => ({
  name,
  state: 'waiting',
  reason,
  lift,
})

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`

const UNDECIDED = 'The conflict check timed out and will be retried'
/** Pipeline statuses that change without user action. */
const UNDER_WAY = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled', 'canceling']

const RULES: { [name in GateName]: (facts: MergeFacts) => Gate } = {
  open: ({ state }) => {
    if (state === 'opened') return passed('open')
    if (state === 'locked') return waiting('open', 'Merge in progress', ['server'])
    const lift: Lifter[] = state === 'closed' ? ['author', 'developers'] : ['nobody']
    return blocked('open', `The merge request is ${state}`, lift)
  },
  draft: ({ draft }) =>
    draft ? blocked('draft', 'The merge request is a draft', ['author', 'developers']) : passed('draft'),
  dependencies: ({ blockedBy }) =>
    blockedBy === 0
      ? passed('dependencies')
      : blocked('dependencies', `${count(blockedBy, 'merge request', 'merge requests')} must be merged first`, [
          'developers',
        ]),
  changes_requested: ({ changesRequested }) =>
    changesRequested === 0
      ? passed('changes_requested')
      : blocked('changes_requested', `${count(changesRequested, 'reviewer', 'reviewers')} requested changes`, [
          'reviewers',
        ]),
  discussions: ({ discussions: { required, unresolved } }) => {
    if (!required) return off('discussions')
    if (unresolved === 0) return passed('discussions')
    return blocked('discussions', `${count(unresolved, 'thread is', 'threads are')} not resolved`, [
      'author',
      'developers',
    ])
  },
  approvals: ({ approvals: { required, left } }) => {
    if (required === 0) return off('approvals')
    if (left === 0) return passed('approvals')
    return blocked('approvals', `${count(left, 'approval is', 'approvals are')} missing`, ['approvers'])
  },
  pipeline: ({ pipeline: { required, status } }) => {
    if (!required) return off('pipeline')
    if (status === null || status === 'success' || status === 'skipped') return passed('pipeline')
    if (UNDER_WAY.includes(status)) return waiting('pipeline', `The pipeline is ${status}`, ['pipeline'])
    return blocked('pipeline', `The pipeline is ${status}`, ['developers'])
  },
  commits: ({ check }) => {
    if (check === null) return waiting('commits', 'Checking', ['server'])
    if (check === 'missing') return blocked('commits', 'The source or target branch does not exist', ['developers'])
    if (check === 'empty') return blocked('commits', 'No commits to merge', ['author', 'developers'])
    return passed('commits')
  },
  conflict: ({ check, conflicts }) => {
    if (check === null) return waiting('conflict', 'Checking', ['server'])
    if (check === 'undecided') return waiting('conflict', UNDECIDED, ['server', 'author', 'developers'])
    if (check !== 'conflict') return passed('conflict')
    const files = conflicts.length === 0 ? '' : ` in ${count(conflicts.length, 'file', 'files')}`
    return blocked('conflict', `Merge conflicts with the target branch${files}`, ['author', 'developers'])
  },
  rebase: ({ needsRebase }) =>
    needsRebase
      ? blocked('rebase', 'The source branch is behind the target branch', ['author', 'developers'])
      : passed('rebase'),
}

export const gatesOf = (facts: MergeFacts): Gate[] => GATES.map((name) => RULES[name](facts))

const isBar = ({ state }: Gate) => state === 'blocked' || state === 'waiting'

export const barsOf = (facts: MergeFacts): Gate[] => gatesOf(facts).filter(isBar)

/** The status in newer API versions: the first failed check. Checks that users can resolve least come last. */
export function detailedMergeStatus(facts: MergeFacts): string {
  const [bar] = barsOf(facts)
  if (!bar) return 'mergeable'
  switch (bar.name) {
    case 'open':
      return 'not_open'
    case 'draft':
      return 'draft_status'
    case 'dependencies':
      return 'merge_request_blocked'
    case 'changes_requested':
      return 'requested_changes'
    case 'discussions':
      return 'discussions_not_resolved'
    case 'approvals':
      return 'not_approved'
    case 'pipeline':
      return bar.state === 'waiting' ? 'ci_still_running' : 'ci_must_pass'
    case 'commits':
      return bar.state === 'waiting' ? 'unchecked' : 'commits_status'
    case 'conflict':
      return bar.state === 'waiting' ? 'checking' : 'conflict'
    case 'rebase':
      return 'need_rebase'
  }
}

/** The result of the merge check of the two commits alone. */
export function mergeStatus({ check }: Pick<MergeFacts, 'check'>): 'unchecked' | 'can_be_merged' | 'cannot_be_merged' {
  if (check === null || check === 'undecided') return 'unchecked'
  return check === 'mergeable' ? 'can_be_merged' : 'cannot_be_merged'
}
