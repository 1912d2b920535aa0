import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    gpg_keys: {
      id: Generated<number>
      user_id: number
      key: string
      fingerprint: string
      primary_keyid: string
      /** The addresses of certified user ids, separated by spaces. */
      emails: string
      created_at: string
      updated_at: string
    }
    gpg_subkeys: { id: Generated<number>; gpg_key_id: number; fingerprint: string; keyid: string }
  }
  interface Events {
    'gpg_key.created': { id: number; user_id: number }
    /**
     * Signatures of a deleted key stay verified; signatures of a revoked key become unverified. Carries the ids of the
     * key and its subkeys, because the rows are deleted when subscribers run.
     */
    'gpg_key.deleted': { id: number; user_id: number; revoked: boolean; keyids: string[] }
  }
}
