import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    passkeys: {
      id: Generated<number>
      user_id: number
      name: string
      /** The id that the device gives; the id and the public key are base64url. */
      credential_id: string
      public_key: string
      /** Number of uses as the device counts them; always zero if the device does not count. */
      counter: number
      /** How the browser can reach the device, as a JSON list: it asks for the right device first. */
      transports: string
      created_at: string
      last_used_at: string | null
    }
  }
}
