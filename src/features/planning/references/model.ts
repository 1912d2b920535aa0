import type { Generated } from 'kysely'

/** A text: an issue's, a merge request's, a commit's, or a note's on one of these or on a snippet. */
interface SourceColumns {
  source_issue_id: number | null
  source_merge_request_id: number | null
  source_note_id: number | null
  source_snippet_id: number | null
  source_project_id: number
  source_sha: string | null
}

declare module '../../../store/database.ts' {
  interface Tables {
    /** Which text names which issue, merge request or commit. */
    text_references: SourceColumns & {
      id: Generated<number>
      target_issue_id: number | null
      target_merge_request_id: number | null
      target_project_id: number
      target_sha: string | null
      /** The system note that tells the target of it; one for each pair. */
      note_id: number | null
      created_at: string
    }
    /** Which text names whom. */
    text_mentions: SourceColumns & {
      id: Generated<number>
      user_id: number
      created_at: string
    }
    /** Which text names which group, or without one the team of its project. Who belongs to it is asked when read. */
    text_group_mentions: SourceColumns & {
      id: Generated<number>
      group_id: number | null
      created_at: string
    }
  }
  interface Events {
    /** People whom a text did not name before. */
    'text.mentioned': SourceColumns & { user_ids: number[]; by: number }
    /** A text of something else names it for the first time. */
    'merge_request.named': { id: number; project_id: number }
  }
}

export type Source = Readonly<SourceColumns>

/** Of no item: what a text is of is put over it. */
export const NO_SOURCE = {
  source_issue_id: null,
  source_merge_request_id: null,
  source_note_id: null,
  source_snippet_id: null,
  source_sha: null,
}
