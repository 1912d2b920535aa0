import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    gpg_keys: {
      id: Generated<number>
      user_id: number
      key: string
      fingerprint: string
      primary_keyid: string
      /** Of certified user ids, by space. */
      emails: string
      created_at: string
      updated_at: string
    }
    gpg_subkeys: { id: Generated<number>; gpg_key_id: number; fingerprint: string; keyid: string }
  }
  interface Events {
    'gpg_key.created': { id: number; user_id: number }
    /**
     * Signatures of a key that was only deleted stay verified; those of a revoked one count for nothing. With the ids
     * of the key and its subkeys, which are gone by the time listeners hear of it.
     */
    'gpg_key.deleted': { id: number; user_id: number; revoked: boolean; keyids: string[] }
  }
}
