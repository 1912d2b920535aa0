import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Visible only to their authors, until published. */
    draft_notes: {
      id: Generated<number>
      merge_request_id: number
      author_id: number
      note: string
      /** The discussion that the draft replies to. */
      discussion_id: string | null
      resolve_discussion: boolean
      commit_sha: string | null
      /** JSON of the position as it was submitted. */
      position: string | null
      line_code: string | null
      created_at: string
      updated_at: string
    }
  }
}

export type DraftNote = Row<'draft_notes'>
