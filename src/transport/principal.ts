/** The authenticated caller of a git or LFS URL. */
import type { User } from '../context.ts'
import { limitedCaller, type LimitedCaller } from '../lib/async/limiter.ts'
import type { DeployToken } from '../features/repository/deploy-tokens/queries.ts'

export interface Principal {
  /** Null for an anonymous caller. For a deploy key: the user who created the key, if the account still exists. */
  readonly user: User | null
  readonly deployToken?: DeployToken
  readonly deployKeyId?: number
  /** The job that runs as the user. */
  readonly job?: { readonly id: number; readonly project_id: number }
  /** What the credential permits. `access.ts` checks what its owner may do in a project. */
  readonly mayFetch: boolean
  readonly mayPush: boolean
  readonly via: 'nothing' | 'lfs_token' | 'oauth' | 'token' | 'job_token' | 'deploy_token' | 'password' | 'ssh_key'
  /** The only project of an LFS token. */
  readonly projectId?: number
  /** The expiry, in seconds since 1970. */
  readonly until?: number
}

export const NOBODY: Principal = { user: null, mayFetch: true, mayPush: true, via: 'nothing' }

/** The caller for the limiter: the user, else the token, else the network address. */
export function callerOf({ user, deployToken, via }: Principal, from: string): LimitedCaller {
  if (user || via === 'nothing') return limitedCaller(user?.id, from)
  return { key: deployToken ? `deploy token ${deployToken.id}` : from, isAnonymous: false }
}

/** The user for locks and activity. A deploy key acts for no user. */
export const personOf = ({ user, deployKeyId }: Principal): User | null => (deployKeyId === undefined ? user : null)
