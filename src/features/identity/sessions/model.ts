import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    sessions: {
      id: Generated<number>
      user_id: number
      digest: string
      /** The IP address and user agent of the sign-in. */
      ip_address: string | null
      user_agent: string | null
      last_used_at: string | null
      expires_at: string
      created_at: string
    }
    mailed_links: {
      id: Generated<number>
      user_id: number
      /** `confirm_email`: confirms a secondary address. */
      purpose: 'confirm' | 'confirm_email' | 'reset_password'
      email: string
      digest: string
      expires_at: string
      created_at: string
    }
    /** Attempts by key (address or login), counted until a moment; shared by all processes. */
    throttles: { key: string; count: number; until: string }
  }
}
