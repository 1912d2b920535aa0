import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    keys: {
      id: Generated<number>
      /** Null for deploy keys. */
      user_id: number | null
      kind: 'user' | 'deploy'
      title: string
      key: string
      /** MD5, in colon form: unique over users and deploy keys. */
      fingerprint: string
      fingerprint_sha256: string
      usage_type: 'auth_and_signing' | 'auth' | 'signing'
      expires_at: string | null
      last_used_at: string | null
      created_at: string
      updated_at: string
    }
  }
}
