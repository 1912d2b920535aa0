/** The changes of a merge request, in the words of system notes. */
import type { User } from '../../../context.ts'
import { descriptionNotes, labelNotes, milestoneNotes, peopleNotes, titleNotes } from '../../planning/issues/changes.ts'
import type { Label } from '../../planning/labels/model.ts'
import type { Milestone } from '../../planning/milestones/model.ts'
import type { SystemNote } from '../../planning/notes/system.ts'
import { isDraft, withoutDraft } from './draft.ts'
import type { MergeRequest } from './model.ts'

/** The state to compare before and after a change. */
export interface MergeRequestState extends Pick<
  MergeRequest,
  | 'title'
  | 'description'
  | 'state'
  | 'target_branch'
  | 'discussion_locked'
  | 'squash'
  | 'force_remove_source_branch'
  | 'allow_collaboration'
> {
  readonly milestone: Milestone | null
  readonly labels: readonly Label[]
  readonly assignees: readonly User[]
  readonly reviewers: readonly User[]
}

export function notesOn(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  return [
    ...draftNotes(was, is),
    ...titleNotes({ title: withoutDraft(was.title) }, { title: withoutDraft(is.title) }),
    ...descriptionNotes(was, is),
    ...peopleNotes(was.assignees, is.assignees, { added: 'assigned to', gone: 'unassigned', none: 'removed assignee' }),
    ...peopleNotes(was.reviewers, is.reviewers, {
      added: 'requested review from',
      gone: 'removed review request for',
    }),
    ...labelNotes(was, is),
    ...milestoneNotes(was, is),
    ...targetNotes(was, is),
    ...lockNotes(was, is),
    ...stateNotes(was, is),
  ]
}

function draftNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (isDraft(was.title) === isDraft(is.title)) return []
  return [{ action: 'title', body: `${isDraft(is.title) ? 'marked' : 'unmarked'} as a **Work In Progress**` }]
}

function targetNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (was.target_branch === is.target_branch) return []
  return [{ action: 'branch', body: `changed target branch from \`${was.target_branch}\` to \`${is.target_branch}\`` }]
}

function lockNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (Boolean(was.discussion_locked) === Boolean(is.discussion_locked)) return []
  return is.discussion_locked
    ? [{ action: 'locked', body: 'locked the discussion in this merge request' }]
    : [{ action: 'unlocked', body: 'unlocked the discussion in this merge request' }]
}

function stateNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (was.state === is.state) return []
  if (is.state === 'merged') return [{ action: 'merged', body: 'merged' }]
  return is.state === 'opened' ? [{ action: 'opened', body: 'reopened' }] : [{ action: 'closed', body: 'closed' }]
}
