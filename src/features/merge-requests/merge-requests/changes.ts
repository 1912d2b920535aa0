/** The changes of a merge request, in the words of system notes. */
import { changeNotes, type ItemState } from '../../planning/items/changes.ts'
import type { SystemNote } from '../../planning/notes/system.ts'
import { isDraft, withoutDraft } from './draft.ts'
import { mergeRequestKind } from './kind.ts'
import type { MergeRequest } from './model.ts'

/** Fields that only merge requests have. */
export const MERGE_REQUEST_FIELDS = [
  'target_branch',
  'squash',
  'force_remove_source_branch',
  'allow_collaboration',
] as const

/** The state to compare before and after a change. */
export type MergeRequestState = ItemState & Pick<MergeRequest, 'state' | (typeof MERGE_REQUEST_FIELDS)[number]>

export function mergeRequestNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  const [before, after] = [was, is].map((one) => ({ ...one, title: withoutDraft(one.title) }))
  return [...draftNotes(was, is), ...changeNotes(mergeRequestKind, before!, after!, targetNotes(was, is))]
}

function draftNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (isDraft(was.title) === isDraft(is.title)) return []
  return [{ action: 'title', body: `${isDraft(is.title) ? 'marked' : 'unmarked'} as a **Work In Progress**` }]
}

function targetNotes(was: MergeRequestState, is: MergeRequestState): SystemNote[] {
  if (was.target_branch === is.target_branch) return []
  return [{ action: 'branch', body: `changed target branch from \`${was.target_branch}\` to \`${is.target_branch}\`` }]
}
