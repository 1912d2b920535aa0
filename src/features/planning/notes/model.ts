import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

/** The subject of a system note. */
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
    /** On an issue, a merge request, a commit or a snippet. */
    notes: {
      id: Generated<number>
      project_id: number
      issue_id: number | null
      merge_request_id: number | null
      commit_sha: string | null
      snippet_id: number | null
      /** 40 hex digits, shared by the notes of one discussion. */
      discussion_id: string
      /** Null: a single note outside any thread. */
      type: 'DiscussionNote' | 'DiffNote' | null
      author_id: number | null
      body: string
      system: Generated<boolean>
      action: NoteAction | null
      /** The record that a system note mentions. Only viewers who may see the record see the note. */
      about_issue_id: Generated<number | null>
      about_project_id: Generated<number | null>
      /** Only for Reporters and above. */
      internal: Generated<boolean>
      /** The commit of the merge request that the thread is about. */
      thread_commit_sha: Generated<string | null>
      /** JSON of the current position. */
      position: string | null
      line_code: string | null
      /** JSON of the position when it was written. Null if it never moved. */
      original_position: Generated<string | null>
      resolved_at: string | null
      resolved_by_id: number | null
      /** A push removed the lines of the thread, which resolved it. */
      resolved_by_push: Generated<boolean>
      updated_by_id: Generated<number | null>
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /**
     * `review`: published together with others, which have one event of their own. `plain`: the text has no references.
     * `recorded`: its activity is recorded.
     */
    'note.created': {
      id: number
      project_id: number
      by: number
      review?: true
      plain?: true
      recorded?: true
    }
    /** `was`: the previous text. */
    'note.updated': { id: number; project_id: number; by: number; was?: string }
    'note.deleted': { id: number; project_id: number; by: number }
  }
}

export type Note = Row<'notes'>

/** All columns but the text. */
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
