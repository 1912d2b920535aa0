import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    second_factors: {
      id: Generated<number>
      user_id: number
      secret_sealed: string
      /** Time step of the last accepted code: no code is accepted twice. */
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
