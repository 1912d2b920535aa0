import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Secondary addresses; the primary address is in `users`. */
    emails: {
      id: Generated<number>
      user_id: number
      email: string
      /** Null: an unconfirmed claim. Several users may claim the same address, and a claim gives no rights. */
      confirmed_at: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'email.created': { id: number; user_id: number }
    'email.confirmed': { id: number; user_id: number }
    /** Carries the address, because the row is deleted when subscribers run. */
    'email.deleted': { id: number; user_id: number; email: string }
  }
}
