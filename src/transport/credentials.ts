/**
 * Authenticates callers of git and LFS. A credential is tried as every kind of secret in the order of the API contract.
 * An invalid credential is rejected, even for public projects.
 */
import type { Identity, Scope } from '../api/credentials.ts'
import { timestamp } from '../clock.ts'
import type { App } from '../context.ts'
import { Refusal } from '../errors.ts'
import { byJobToken } from '../features/ci/job-tokens/authenticate.ts'
import { assertMayComeFrom } from '../features/identity/addresses/service.ts'
import { bearerOfOAuthToken } from '../features/identity/oauth/authenticate.ts'
import { signIn } from '../features/identity/sessions/service.ts'
import { countFailure, forgetFailures, recentFailures } from '../features/identity/throttling/throttle.ts'
import { bearerOfToken } from '../features/identity/tokens/authenticate.ts'
import { currentSettings } from '../features/instance/settings/queries.ts'
import { findDeployToken } from '../features/repository/deploy-tokens/queries.ts'
import { noteDeployTokenUse } from '../features/repository/deploy-tokens/use.ts'
import { networkOf } from '../lib/net/addresses.ts'
import { NOBODY, type Principal } from './principal.ts'
import { byLfsToken } from './lfs/token.ts'

export interface PresentedCredentials {
  readonly authorization: string | undefined
  readonly address: string
}

interface PresentedSecret {
  readonly username: string
  readonly secret: string
  readonly address: string
}

type Way = (app: App, presented: PresentedSecret) => Promise<Principal | null>

const TOKENS: readonly Way[] = [byJob, byOAuth, byToken, byDeployToken]

/**
 * After too many failures, a network may not try passwords for an hour. Tokens still work, because nobody can guess
 * them.
 */
function waysOf(at: 'git' | 'lfs', isBanned: boolean): readonly Way[] {
  const tokens = at === 'lfs' ? [byLfsToken, ...TOKENS] : TOKENS
  return isBanned ? tokens : [...tokens, byPassword]
}

export async function authenticatePrincipal(
  app: App,
  visitor: PresentedCredentials,
  at: 'git' | 'lfs',
): Promise<Principal> {
  const { address, authorization } = visitor
  const key = `git ${networkOf(address)}`
  if (authorization === undefined) return NOBODY
  const failed = isLoopback(address) ? null : await recentFailures(app, key)
  const isBanned = failed === 'banned'

  const presented = readCredential(authorization)
  if (!presented?.secret) throw accessDenied()
  for (const way of waysOf(at, isBanned)) {
    const principal = await way(app, { ...presented, address })
    if (!principal) continue
    // The address of a job says nothing about its user.
    if (principal.user && !principal.job) await assertMayComeFrom(app, principal.user, address)
    if (failed && !isBanned) await forgetFailures(app, key)
    return principal
  }
  if (isBanned) throw new Refusal('forbidden', 'Forbidden')
  if (failed !== null) await countFailure(app, key)
  throw accessDenied((await passwordsOpenGit(app)) ? [] : hintAtTokens(app))
}

const isLoopback = (address: string) => /^(::ffff:)?127\.|^::1$/.test(address)

function readCredential(header: string): Omit<PresentedSecret, 'address'> | null {
  const [, scheme, value] = /^(basic|bearer) +(\S+)\s*$/i.exec(header) ?? []
  if (scheme === undefined || value === undefined) return null
  if (scheme.toLowerCase() === 'bearer') return { username: '', secret: value }
  const text = Buffer.from(value, 'base64').toString('utf8')
  const at = text.indexOf(':')
  // No name and no secret contains NUL, and no store accepts it.
  return at < 0 || text.includes('\0') ? null : { username: text.slice(0, at), secret: text.slice(at + 1) }
}

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Mortise"' }

/** The challenge that makes a git client ask its user for a name and a password. */
export const accessDenied = (hints: readonly string[] = []) =>
  new Refusal('unauthenticated', ['HTTP Basic: Access denied', ...hints].join('\n'), { headers: CHALLENGE })

const hintAtTokens = ({ url }: App) => [
  "You must use a personal access token with 'api' scope for Git over HTTP.",
  `You can generate one at ${url}/profile/personal_access_tokens`,
]

const FETCHING: readonly Scope[] = ['api', 'read_api', 'read_repository', 'write_repository']
const PUSHING: readonly Scope[] = ['api', 'write_repository']

/**
 * A valid token proves its owner, so the answer may say that the account is blocked. For a guessed password it must
 * not.
 */
export const accountBlocked = () => new Refusal('forbidden', 'Your account has been blocked.')

function bearing({ user, scopes }: Identity, via: Principal['via']): Principal {
  if (user.state !== 'active') throw accountBlocked()
  const has = (required: readonly Scope[]) => scopes?.some((scope) => required.includes(scope)) ?? true
  return { user, mayFetch: has(FETCHING), mayPush: has(PUSHING), via }
}

async function byOAuth(app: App, { secret }: PresentedSecret): Promise<Principal | null> {
  const identity = await unlessRefused(() => bearerOfOAuthToken(app, secret))
  return identity && bearing(identity, 'oauth')
}

/** The API explains why an OAuth token is invalid. Here the token just does not authenticate. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

const JOBS_NAME = 'gitlab-ci-token'

/** Valid while the job runs, and for reading only. */
async function byJob(app: App, { username, secret }: PresentedSecret): Promise<Principal | null> {
  const bearer = username === JOBS_NAME ? await byJobToken(app, secret) : null
  return bearer && { user: bearer.user, job: bearer.job, mayFetch: true, mayPush: false, via: 'job_token' }
}

async function byToken(app: App, { secret, address }: PresentedSecret): Promise<Principal | null> {
  const identity = await bearerOfToken(app, secret, address)
  return identity && bearing(identity, 'token')
}

async function byDeployToken(app: App, { username, secret }: PresentedSecret): Promise<Principal | null> {
  const deployToken = await findDeployToken(app.db, username, secret, timestamp(app.clock))
  if (!deployToken) return null
  void noteDeployTokenUse(app, deployToken)
  const mayFetch = /(read|write)_repository/.test(deployToken.scopes)
  return { user: null, deployToken, mayFetch, mayPush: false, via: 'deploy_token' }
}

const passwordsOpenGit = async (app: App) => (await currentSettings(app)).password_authentication_enabled_for_git

async function byPassword(app: App, { username, secret, address }: PresentedSecret): Promise<Principal | null> {
  if (username === '' || !(await passwordsOpenGit(app))) return null
  try {
    const user = await signIn(app, { login: username, password: secret, address })
    return { user, mayFetch: true, mayPush: true, via: 'password' }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'unauthenticated') throw error
    // Only a caller who knows the password gets this answer. Neither case counts as a failed guess.
    if (error.facts.reason === 'two_factor') throw accessDenied(hintAtTokens(app))
    if (typeof error.facts.fault === 'string') throw accessDenied([error.facts.fault])
    return null
  }
}
