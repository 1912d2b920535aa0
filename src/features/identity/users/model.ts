import type { Generated } from 'kysely'

/**
 * Only `active` users have access. `ldap_blocked`: by directory synchronisation, and the API cannot unblock;
 * `deactivated`: inactive for long, until the next sign-in; `banned`: like blocked, but listed separately for
 * administrators; `blocked_pending_approval`: registered, and not yet approved by an administrator.
 */
export type UserState = 'active' | 'blocked' | 'ldap_blocked' | 'deactivated' | 'banned' | 'blocked_pending_approval'

export const isPending = ({ state }: { readonly state: UserState }): boolean => state === 'blocked_pending_approval'

declare module '../../../store/database.ts' {
  interface Tables {
    users: {
      id: Generated<number>
      username: string
      name: string
      email: string
      state: UserState
      admin: boolean
      external: boolean
      ghost: boolean
      /** The bot user of a group or project access token; set by a trigger. */
      bot: Generated<boolean>
      bio: string | null
      location: string | null
      organization: string | null
      messenger: string
      professional_network: string
      microblog: string
      website_url: string
      /** One of the user's confirmed addresses, visible to everybody. */
      public_email: string | null
      job_title: Generated<string>
      pronouns: string | null
      /** Visible to administrators only. */
      note: string | null
      avatar_digest: string | null
      avatar_filename: string | null
      avatar_type: string | null
      projects_limit: number
      can_create_group: boolean
      shared_runners_minutes_limit: number | null
      theme_id: number
      color_scheme_id: number
      two_factor_enabled: boolean
      /** When the user was first told that a second factor is required; null if they have one. */
      second_factor_asked_at: string | null
      password_digest: string | null
      /** If past, the web asks for a new password at the next sign-in; tokens are unaffected. */
      password_expires_at: string | null
      /** Signed tokens from before this moment are invalid. */
      credentials_revoked_at: string | null
      /** Used by the previous version; failures are now counted per network (`sessions/guesses.ts`). */
      failed_sign_ins: Generated<number>
      locked_until: Generated<string | null>
      confirmed_at: string | null
      /** A user who registered themselves can sign in with an unconfirmed address until then; null for other users. */
      confirm_by: string | null
      /** The digest of the accepted terms. */
      accepted_terms: string | null
      last_sign_in_at: string | null
      current_sign_in_at: string | null
      /** Incremented by every update (`store/versions.ts`). */
      version: Generated<number>
      last_activity_on: string | null
      created_at: string
      updated_at: string
    }
    identities: { id: Generated<number>; user_id: number; provider: string; extern_uid: string }
  }
  interface Events {
    'user.created': { id: number; reset_password: boolean }
    /** `readdressed`: the primary address changed or was confirmed. */
    'user.updated': { id: number; old_username?: string; readdressed?: true }
    'user.blocked': { id: number }
    'user.unblocked': { id: number }
    'user.deactivated': { id: number }
    'user.activated': { id: number }
    'user.banned': { id: number }
    'user.unbanned': { id: number }
    'user.approved': { id: number }
    /** The password was correct, but the account may not sign in. */
    'user.sign_in_refused': { id: number }
    'user.deleted': {
      id: number
      username: string
      email: string
      name: string
      created_at: string
      updated_at: string
    }
  }
}
