import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    access_tokens: {
      id: Generated<number>
      user_id: number
      /** `private` is the account's own token: one per user, never expiring, with all rights of the account. */
      kind: 'private' | 'personal' | 'impersonation'
      name: string
      description: string | null
      digest: string
      /** The encrypted value, for kinds that the contract reads back: private and impersonation tokens. */
      sealed: string | null
      /** Separated by spaces. */
      scopes: string
      expires_at: string | null
      revoked: boolean
      /** The first token of a chain of rotations; null on that first one itself. */
      family_id: number | null
      /** Replaced by a successor: a caller who still presents this token has a copy they should not have. */
      rotated: boolean
      last_used_at: string | null
      /** Separated by spaces, the latest last. */
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
