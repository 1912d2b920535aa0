import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /**
     * Addresses that users come from, recorded while the number per user is limited. Rejected addresses are not stored.
     */
    user_addresses: {
      user_id: number
      /** For IPv6, the /64 prefix. */
      address: string
      /** Start of the current period: since then, no pause was as long as the window. */
      since: string
      seen_at: string
    }
  }
}

export type UserAddress = Row<'user_addresses'>
