import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    second_factors: {
      id: Generated<number>
      user_id: number
      secret_sealed: string
      /** Of the last code that was taken: none is taken twice. */
      last_step: number
      created_at: string
    }
    recovery_codes: {
      id: Generated<number>
      user_id: number
      secret_digest: string
      created_at: string
    }
  }
}
