import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** From where people come, while their number is limited; those that were refused are not kept. */
    user_addresses: {
      user_id: number
      /** Of IPv6 the /64. */
      address: string
      /** Seen without a pause as long as the window since then. */
      since: string
      seen_at: string
    }
  }
}

export type UserAddress = Row<'user_addresses'>
