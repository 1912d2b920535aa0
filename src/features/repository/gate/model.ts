import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Changes that were about to be made; both texts are JSON. */
    pending_changes: {
      id: Generated<number>
      project_id: number
      wiki: boolean
      user_id: number | null
      updates: string
      options: string
      /** By a merge request, as the event tells it. */
      merging: Generated<boolean>
      created_at: string
    }
  }
  interface Events {
    /** Refs that moved, by a push or by the API; `wiki`: those of the project's wiki. */
    'repository.changed': {
      project_id: number
      wiki: boolean
      /** Null where a deploy key without a creator did it. */
      by: number | null
      updates: { ref: string; before: string | null; after: string | null }[]
      options: string[]
      /** All that came was made here, and nobody has signed it. */
      unsigned?: true
      /** By a merge request, which closes its issues itself. */
      merging?: true
    }
  }
}
