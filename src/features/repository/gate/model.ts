import type { Generated } from 'kysely'

export interface ChangedPage {
  readonly action: 'create' | 'update' | 'delete'
  readonly slug: string
  readonly title: string
  readonly format: string
  /** What its commit says. */
  readonly message: string
  /** The commit, and the one in which its text is. */
  readonly version: string
  readonly text: string
  /** Of its file. */
  readonly path: string
}

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
      /** Of a wiki, that somebody changed by the API: JSON. */
      page: Generated<string | null>
      /** The process that makes it; null of older versions. */
      holder: Generated<string | null>
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
      /** Where the default branch stood, if another was made. */
      default_sha?: string
      /** The process that follows it up. */
      holder?: string
    }
    /** By the API; pushes to a wiki are of the repository alone. */
    'wiki_page.changed': ChangedPage & { project_id: number; by: number | null }
  }
}
