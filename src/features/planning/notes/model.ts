import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

/** What a system note is about. */
export type NoteAction =
  | 'approved'
  | 'assignee'
  | 'branch'
  | 'closed'
  | 'commit'
  | 'confidential'
  | 'cross_reference'
  | 'description'
  | 'discussion'
  | 'due_date'
  | 'duplicate'
  | 'label'
  | 'locked'
  | 'merge'
  | 'merged'
  | 'milestone'
  | 'moved'
  | 'opened'
  | 'outdated'
  | 'relate'
  | 'task'
  | 'time_tracking'
  | 'title'
  | 'unapproved'
  | 'unlocked'
  | 'visible'
  | 'weight'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Of an issue, a merge request or a commit. */
    notes: {
      id: Generated<number>
      project_id: number
      issue_id: number | null
      merge_request_id: number | null
      commit_sha: string | null
      /** 40 hex digits, shared by the notes of one discussion. */
      discussion_id: string
      /** Null for a note that stands alone. */
      type: 'DiscussionNote' | 'DiffNote' | null
      author_id: number | null
      body: string
      system: Generated<boolean>
      action: NoteAction | null
      /** For Reporters and above. */
      internal: Generated<boolean>
      /** JSON. */
      position: string | null
      line_code: string | null
      resolved_at: string | null
      resolved_by_id: number | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'note.created': { id: number; by: number }
    'note.updated': { id: number; by: number }
    'note.deleted': { id: number; project_id: number; by: number }
  }
}

export type Note = Row<'notes'>
