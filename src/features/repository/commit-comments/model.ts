import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    commit_comments: {
      id: Generated<number>
      project_id: number
      sha: string
      note: string
      /** Null unless the comment is anchored to a line of the diff. */
      path: string | null
      line: number | null
      line_type: 'new' | 'old' | null
      author_id: number | null
      created_at: string
    }
  }
  interface Events {
    'commit.commented': { id: number }
  }
}
