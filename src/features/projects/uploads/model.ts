import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    uploads: {
      id: Generated<number>
      project_id: number
      user_id: number | null
      /** 32 hex digits in the URL. */
      secret: string
      filename: string
      /** Detected from the bytes, never from the uploader's claim. */
      type: string
      size: number
      digest: string
      created_at: string
    }
  }
}
