import type { Generated } from 'kysely'

/** The source text: of an issue, a merge request, a commit, or a note on one of these or on a snippet. */
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
    /** References from a text to an issue, a merge request or a commit. */
    text_references: SourceColumns & {
      id: Generated<number>
      target_issue_id: number | null
      target_merge_request_id: number | null
      target_project_id: number
      target_sha: string | null
      /** The system note on the target; one per pair of items. */
      note_id: number | null
      created_at: string
    }
    /** Mentions of users in a text. */
    text_mentions: SourceColumns & {
      id: Generated<number>
      user_id: number
      created_at: string
    }
    /** Mentions of groups in a text; without a group, `@all` of the project. Members are looked up when read. */
    text_group_mentions: SourceColumns & {
      id: Generated<number>
      group_id: number | null
      created_at: string
    }
  }
  interface Events {
    /** Users that a text newly mentions. */
    'text.mentioned': SourceColumns & { user_ids: number[]; by: number }
  }
}

export type Source = Readonly<SourceColumns>

/** No source; the caller sets one of the columns. */
export const NO_SOURCE = {
  source_issue_id: null,
  source_merge_request_id: null,
  source_note_id: null,
  source_snippet_id: null,
  source_sha: null,
}
