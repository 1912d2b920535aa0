import type { Generated } from 'kysely'

export const USAGE_TYPES = ['auth_and_signing', 'auth', 'signing'] as const
export type UsageType = (typeof USAGE_TYPES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    keys: {
      id: Generated<number>
      /** Null for deploy keys. */
      user_id: number | null
      kind: 'user' | 'deploy'
      title: string
      key: string
      /** MD5 in colon form; unique over user keys and deploy keys. */
      fingerprint: string
      fingerprint_sha256: string
      usage_type: UsageType
      /** A deploy key that any project may enable. */
      public: Generated<boolean>
      /** Of a deploy key: pushes with the key count as this user's. */
      creator_id: number | null
      expires_at: string | null
      last_used_at: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'key.created': { id: number; user_id: number }
    /** Carries the text of the key, because the row is deleted when subscribers run. */
    'key.deleted': RemovedKey & { user_id: number }
    'deploy_key.created': { id: number }
    'deploy_key.deleted': RemovedKey
  }
}

interface RemovedKey {
  id: number
  key: string
  created_at: string
  updated_at: string
}
