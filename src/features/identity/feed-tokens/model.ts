import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    feed_tokens: {
      id: Generated<number>
      user_id: number
      token_digest: string
      token_sealed: string
      created_at: string
    }
  }
}
