import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    passkeys: {
      id: Generated<number>
      user_id: number
      name: string
      /** As the device names it; it and the key are base64url. */
      credential_id: string
      public_key: string
      /** Of its uses, as the device counts them; always zero where it does not. */
      counter: number
      /** How the device is reached, a JSON list: a browser asks for the right one first. */
      transports: string
      created_at: string
      last_used_at: string | null
    }
  }
}
