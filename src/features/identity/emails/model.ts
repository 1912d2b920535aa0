import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Secondary addresses; the primary one stands in `users`. */
    emails: {
      id: Generated<number>
      user_id: number
      email: string
      /** Null: a claim, which several people may make and which counts for nothing. */
      confirmed_at: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'email.created': { id: number; user_id: number }
    'email.confirmed': { id: number; user_id: number }
    /** With the address, which is gone by the time listeners hear of it. */
    'email.deleted': { id: number; user_id: number; email: string }
  }
}
