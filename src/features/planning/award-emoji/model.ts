import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** On an issue, a merge request, a note or a snippet. */
    award_emoji: {
      id: Generated<number>
      user_id: number
      name: string
      issue_id: number | null
      merge_request_id: Generated<number | null>
      note_id: number | null
      snippet_id: number | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'award_emoji.created': { id: number; project_id: number; by: number }
    'award_emoji.deleted': AwardEmoji & { project_id: number; by: number }
  }
}

export type AwardEmoji = Row<'award_emoji'>
