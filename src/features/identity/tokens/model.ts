import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    access_tokens: {
      id: Generated<number>
      user_id: number
      /** `private` is the account's own token: one a user, never expiring, with every right of the account. */
      kind: 'private' | 'personal' | 'impersonation'
      name: string
      description: string | null
      digest: string
      /** The value itself, sealed, where the contract reads it back: account and impersonation tokens. */
      sealed: string | null
      /** By space. */
      scopes: string
      expires_at: string | null
      revoked: boolean
      /** The first token of a chain of rotations; null on that first one itself. */
      family_id: number | null
      /** Replaced by a successor: whoever still shows it has a copy they should not have. */
      rotated: boolean
      last_used_at: string | null
      /** By space, the latest last. */
      last_used_ips: Generated<string>
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'token.created': { id: number; user_id: number }
    'token.revoked': { id: number; user_id: number }
  }
}

export type AccessToken = Row<'access_tokens'>
export type TokenKind = AccessToken['kind']
