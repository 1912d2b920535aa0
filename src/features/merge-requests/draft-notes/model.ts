import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** For their authors alone, until they are published. */
    draft_notes: {
      id: Generated<number>
      merge_request_id: number
      author_id: number
      note: string
      /** The one it answers. */
      discussion_id: string | null
      resolve_discussion: boolean
      commit_sha: string | null
      /** As it was put, as JSON. */
      position: string | null
      line_code: string | null
      created_at: string
      updated_at: string
    }
  }
}

export type DraftNote = Row<'draft_notes'>
