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
  | 'severity'
  | 'task'
  | 'time_tracking'
  | 'title'
  | 'unapproved'
  | 'unlocked'
  | 'visible'
  | 'weight'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Of an issue, a merge request, a commit or a snippet. */
    notes: {
      id: Generated<number>
      project_id: number
      issue_id: number | null
      merge_request_id: number | null
      commit_sha: string | null
      snippet_id: number | null
      /** 40 hex digits, shared by the notes of one discussion. */
      discussion_id: string
      /** Null for a note that stands alone. */
      type: 'DiscussionNote' | 'DiffNote' | null
      author_id: number | null
      body: string
      system: Generated<boolean>
      action: NoteAction | null
      /** What a system note names: who may not see it does not see the note. */
      about_issue_id: Generated<number | null>
      about_project_id: Generated<number | null>
      /** For Reporters and above. */
      internal: Generated<boolean>
      /** Of the merge request, that its thread is about. */
      thread_commit_sha: Generated<string | null>
      /** JSON. */
      position: string | null
      line_code: string | null
      /** As it was written; null where it never moved on its own diff. */
      original_position: Generated<string | null>
      resolved_at: string | null
      resolved_by_id: number | null
      /** What it was about went. */
      resolved_by_push: Generated<boolean>
      updated_by_id: Generated<number | null>
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /** `review`: one of several that were published together, which have news of their own. */
    'note.created': { id: number; project_id: number; by: number; review?: true }
    /** `was`: its text before. */
    'note.updated': { id: number; project_id: number; by: number; was?: string }
    'note.deleted': { id: number; project_id: number; by: number }
  }
}

export type Note = Row<'notes'>

/** All but the text. */
export const REST_OF_NOTE = Object.keys({
  id: true,
  project_id: true,
  issue_id: true,
  merge_request_id: true,
  commit_sha: true,
  snippet_id: true,
  discussion_id: true,
  type: true,
  author_id: true,
  system: true,
  action: true,
  about_issue_id: true,
  about_project_id: true,
  internal: true,
  thread_commit_sha: true,
  position: true,
  line_code: true,
  original_position: true,
  resolved_at: true,
  resolved_by_id: true,
  resolved_by_push: true,
  updated_by_id: true,
  created_at: true,
  updated_at: true,
} satisfies Record<Exclude<keyof Note, 'body'>, true>) as Exclude<keyof Note, 'body'>[]
