import type { Generated } from 'kysely'

export type VerificationStatus =
  | 'verified'
  | 'same_user_different_email'
  | 'other_user'
  | 'unverified_key'
  | 'unknown_key'
  | 'unverified'
  | 'multiple_signatures'

declare module '../../../store/database.ts' {
  interface Tables {
    /** What signed commits and tags were found to be. */
    signatures: {
      id: Generated<number>
      project_id: number
      object_id: string
      kind: 'PGP' | 'SSH' | 'X509'
      status: VerificationStatus
      /** The id of a PGP key, the fingerprint of an SSH key; null where no one key is named that could have signed. */
      signed_by: string | null
      /** Null, as are the two below, while no such key is known, and again once it is gone. */
      gpg_key_id: number | null
      gpg_subkey_id: number | null
      key_id: number | null
      /** As a PGP key names its holder. */
      holder_name: string | null
      holder_email: string | null
      created_at: string
      updated_at: string
    }
  }
}
