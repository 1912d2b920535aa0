import type { Generated } from 'kysely'

export interface ChangedPage {
  readonly action: 'create' | 'update' | 'delete'
  readonly slug: string
  readonly title: string
  readonly format: string
  /** The commit message. */
  readonly message: string
  /** The commit of the change, and the commit that has the text of the page. */
  readonly version: string
  readonly text: string
  /** The path of the page's file. */
  readonly path: string
}

declare module '../../../store/database.ts' {
  interface Tables {
    /** Changes that were about to happen; `updates` and `options` are JSON. */
    pending_changes: {
      id: Generated<number>
      project_id: number
      wiki: boolean
      user_id: number | null
      updates: string
      options: string
      /** Made by a merge request, as in the event. */
      merging: Generated<boolean>
      /** The wiki page that the API changed, as JSON. */
      page: Generated<string | null>
      /** The earlier change that this one undoes. */
      undoes: Generated<number | null>
      /** The process that makes the change. Null in rows of older versions. */
      holder: Generated<string | null>
      created_at: string
    }
  }
  interface Events {
    /** Refs moved, by a push or by the API; `wiki`: refs of the project's wiki. */
    'repository.changed': {
      project_id: number
      wiki: boolean
      /** Null for a deploy key without a creator. */
      by: number | null
      updates: { ref: string; before: string | null; after: string | null }[]
      options: string[]
      /** The server created all new commits, so none is signed. */
      unsigned?: true
      /** Made by a merge request, which closes its issues itself. */
      merging?: true
      /** The tip of the default branch, if another branch was created. */
      default_sha?: string
      /** The process that does the follow-up work. */
      holder?: string
    }
    /** A page changed through the API. Pushes to a wiki emit only `repository.changed`. */
    'wiki_page.changed': ChangedPage & { project_id: number; by: number | null }
  }
}
