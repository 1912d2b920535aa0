import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    deploy_key_projects: {
      id: Generated<number>
      key_id: number
      project_id: number
      can_push: boolean
      created_at: string
      updated_at: string
    }
  }
}
