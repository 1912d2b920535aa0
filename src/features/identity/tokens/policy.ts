import { SCOPES, type Caller, type Scope } from '../../../api/credentials.ts'
import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import type { AccessToken } from './model.ts'

export interface TokenSubject {
  readonly token: AccessToken
  readonly viewer: User | null
}

const isOwnerOrAdministrator = ({ token, viewer }: TokenSubject) =>
  viewer !== null && (viewer.admin || viewer.id === token.user_id)

export const personalTokenPolicy = policy<TokenSubject>()({
  read: isOwnerOrAdministrator,
  manage: isOwnerOrAdministrator,
})

/** A token expires at the start of its date, at midnight UTC. */
export const isActive = ({ revoked, expires_at }: Pick<AccessToken, 'revoked' | 'expires_at'>, today: string) =>
  !revoked && (expires_at === null || expires_at > today)

/** Scopes to sign in to other services: only OAuth grants them, not a token. */
const SIGN_IN: readonly Scope[] = ['openid', 'profile', 'email']

/** The scopes that a caller may put into a token. `sudo` requires an administrator whose credential has it too. */
export function grantableScopes(viewer: User, { identity }: Caller): Scope[] {
  const sudo = viewer.admin && (identity?.scopes?.includes('sudo') ?? true)
  return SCOPES.filter((scope) => !SIGN_IN.includes(scope) && (scope !== 'sudo' || sudo))
}
