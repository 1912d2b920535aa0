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
    /** Verification results of signed commits and tags. */
    signatures: {
      id: Generated<number>
      project_id: number
      object_id: string
      kind: 'PGP' | 'SSH' | 'X509'
      status: VerificationStatus
      /**
       * The id of a PGP key or the fingerprint of an SSH key. Null if the signature names no single key that could have
       * signed.
       */
      signed_by: string | null
      /** Null while the key is unknown or after its deletion. The same holds for the next two columns. */
      gpg_key_id: number | null
      gpg_subkey_id: number | null
      key_id: number | null
      /** The owner's name in the PGP key. */
      holder_name: string | null
      holder_email: string | null
      created_at: string
      updated_at: string
    }
  }
}
