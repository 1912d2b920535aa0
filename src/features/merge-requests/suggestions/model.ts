import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Replacement lines that notes on diffs suggest. */
    suggestions: {
      id: Generated<number>
      note_id: number
      /** Lines around the line of the note. */
      lines_above: number
      lines_below: number
      from_content: string
      to_content: string
      /** The commit that applied it. */
      commit_sha: string | null
    }
  }
}

export type Suggestion = Row<'suggestions'>
