import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    job_token_allowlist: {
      id: Generated<number>
      project_id: number
      allowed_project_id: number | null
      allowed_group_id: number | null
      created_at: string
    }
  }
}
