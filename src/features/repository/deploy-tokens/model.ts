import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    deploy_tokens: {
      id: Generated<number>
      group_id: number | null
      project_id: number | null
      name: string
      username: string
      digest: string
      /** Space separated. */
      scopes: string
      expires_at: string | null
      revoked: boolean
      creator_id: number | null
      last_used_at: string | null
      created_at: string
    }
  }
}
