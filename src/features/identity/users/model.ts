import type { Generated } from 'kysely'

/**
 * Only who is active may be here. `ldap_blocked`: by directory synchronisation, and the API cannot lift it;
 * `deactivated`: not seen for long, until they sign in again; `banned`: as blocked, and told apart by administrators;
 * `blocked_pending_approval`: registered themselves, and no administrator has let them in yet.
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
      /** What the token of a group or a project acts as; kept by trigger. */
      bot: Generated<boolean>
      bio: string | null
      location: string | null
      organization: string | null
      messenger: string
      professional_network: string
      microblog: string
      website_url: string
      /** One of their confirmed addresses, which everybody may see. */
      public_email: string | null
      job_title: Generated<string>
      pronouns: string | null
      /** For administrators alone. */
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
      /** That they must have one, while they have none. */
      second_factor_asked_at: string | null
      password_digest: string | null
      /** Past: the web asks for a new one at the next sign-in; tokens are unaffected. */
      password_expires_at: string | null
      /** What was signed for them before opens nothing any more. */
      credentials_revoked_at: string | null
      /** Of the version before; failures are counted by network now (`sessions/guesses.ts`). */
      failed_sign_ins: Generated<number>
      locked_until: Generated<string | null>
      confirmed_at: string | null
      /** Whoever registered themselves comes in without having confirmed their address until then; null of others. */
      confirm_by: string | null
      /** The digest of the terms they accepted. */
      accepted_terms: string | null
      last_sign_in_at: string | null
      current_sign_in_at: string | null
      /** Raised by every update (`store/versions.ts`). */
      version: Generated<number>
      last_activity_on: string | null
      created_at: string
      updated_at: string
    }
    identities: { id: Generated<number>; user_id: number; provider: string; extern_uid: string }
  }
  interface Events {
    'user.created': { id: number; reset_password: boolean }
    /** `readdressed`: their primary address is another, or has been shown to be theirs. */
    'user.updated': { id: number; old_username?: string; readdressed?: true }
    'user.blocked': { id: number }
    'user.unblocked': { id: number }
    'user.deactivated': { id: number }
    'user.activated': { id: number }
    'user.banned': { id: number }
    'user.unbanned': { id: number }
    'user.approved': { id: number }
    /** They knew the password, and are not let in. */
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
