declare module '../../../store/database.ts' {
  interface Events {
    /** Refs that moved, by a push or by the API; `wiki`: those of the project's wiki. */
    'repository.changed': {
      project_id: number
      wiki: boolean
      /** Null where a deploy key without a creator did it. */
      by: number | null
      updates: { ref: string; before: string | null; after: string | null }[]
      options: string[]
    }
  }
}

export {}
