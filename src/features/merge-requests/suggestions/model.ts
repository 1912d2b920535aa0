import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Lines that notes on diffs propose in place of others. */
    suggestions: {
      id: Generated<number>
      note_id: number
      /** Around the line the note stands on. */
      lines_above: number
      lines_below: number
      from_content: string
      to_content: string
      /** The one it was applied by. */
      commit_sha: string | null
    }
  }
}

export type Suggestion = Row<'suggestions'>
