import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    oauth_applications: {
      id: Generated<number>
      /** The client id. */
      uid: string
      secret_digest: string
      name: string
      /** One absolute URL per line. */
      redirect_uri: string
      scopes: string
      confidential: boolean
      /** Users are not asked for consent. */
      trusted: boolean
      /** The user who registered it; null: it belongs to the instance. */
      owner_id: number | null
      created_at: string
      updated_at: string
    }
    oauth_grants: {
      id: Generated<number>
      application_id: number
      user_id: number
      digest: string
      redirect_uri: string
      scopes: string
      code_challenge: string | null
      code_challenge_method: 'plain' | 'S256' | null
      nonce: string | null
      used_at: string | null
      expires_at: string
      created_at: string
    }
    oauth_tokens: {
      id: Generated<number>
      /** Null for the password grant without a client. */
      application_id: number | null
      /** Null for client credentials. */
      user_id: number | null
      grant_id: number | null
      digest: string
      refresh_digest: string | null
      scopes: string
      last_used_at: string | null
      expires_at: string | null
      revoked_at: string | null
      created_at: string
    }
  }
}
