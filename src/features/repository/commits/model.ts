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
    commit_statuses: {
      id: Generated<number>
      project_id: number
      sha: string
      ref: string
      name: string
      stage: string
      status: 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped'
      target_url: string | null
      description: string | null
      coverage: number | null
      allow_failure: boolean
      retried: boolean
      author_id: number | null
      created_at: string
      started_at: string | null
      finished_at: string | null
    }
  }
  interface Events {
    'commit.commented': { id: number }
    'commit.status_changed': { id: number }
  }
}
