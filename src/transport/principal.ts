/** Whoever has come to a git or LFS address, once recognised. */
import type { User } from '../context.ts'
import { limitedCaller, type LimitedCaller } from '../lib/limiter.ts'
import type { DeployToken } from '../features/repository/deploy-tokens/queries.ts'

export interface Principal {
  /** Null where nobody in particular comes. With a deploy key it is whoever made the key, if they are still there. */
  readonly user: User | null
  readonly deployToken?: DeployToken
  readonly deployKeyId?: number
  /** The job that runs as them. */
  readonly job?: { readonly id: number; readonly project_id: number }
  /** What the credential permits; what its bearer may do in a project is asked in `access.ts`. */
  readonly mayFetch: boolean
  readonly mayPush: boolean
  readonly via: 'nothing' | 'lfs_token' | 'oauth' | 'token' | 'job_token' | 'deploy_token' | 'password' | 'ssh_key'
  /** The only project that an LFS token opens. */
  readonly projectId?: number
  /** When it ends, in seconds since 1970. */
  readonly until?: number
}

export const NOBODY: Principal = { user: null, mayFetch: true, mayPush: true, via: 'nothing' }

/** Whose turns are counted together: a person's, else those of a token, else of where they come from. */
export function callerOf({ user, deployToken, via }: Principal, from: string): LimitedCaller {
  if (user || via === 'nothing') return limitedCaller(user?.id, from)
  return { key: deployToken ? `deploy token ${deployToken.id}` : from, isAnonymous: false }
}

/** The person a lock or an activity is put down to: a deploy key acts for nobody. */
export const personOf = ({ user, deployKeyId }: Principal): User | null => (deployKeyId === undefined ? user : null)
