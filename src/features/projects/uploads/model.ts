import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    uploads: {
      id: Generated<number>
      project_id: number
      user_id: number | null
      /** 32 hex digits in its address. */
      secret: string
      filename: string
      /** As its bytes say, never as the sender did. */
      type: string
      size: number
      digest: string
      created_at: string
    }
  }
}
