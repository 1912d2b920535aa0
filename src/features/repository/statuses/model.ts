import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
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
    'commit.status_changed': { id: number }
  }
}
