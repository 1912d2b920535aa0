/**
 * Tokens for LFS clients, so that they need not send their own credential again. A token is signed and valid for one
 * project, one kind of operation and a short time. The server stores nothing.
 */
import { timestamp } from '../../clock.ts'
import type { App } from '../../context.ts'
import { findUser } from '../../features/identity/users/queries.ts'
import type { Project } from '../../features/projects/projects/queries.ts'
import { findAnyDeployKey } from '../../features/repository/deploy-keys/queries.ts'
import { findUsableDeployToken } from '../../features/repository/deploy-tokens/queries.ts'
import { sameSecret } from '../../lib/crypto/secrets.ts'
import type { Principal } from '../principal.ts'

export type Operation = 'download' | 'upload'

const TOKEN_LIFE_S = 7200

const PURPOSE = 'lfs'
const FORM = /^lfs\.([\w-]+)\.([\w-]+)$/

interface Grant {
  readonly project: number
  readonly operation: Operation
  /** Exactly one of the three is set. */
  readonly user?: number
  readonly key?: number
  readonly deployToken?: number
  /** In milliseconds since 1970. */
  readonly since: number
  /** In seconds since 1970. */
  readonly until: number
}

const nowInSeconds = ({ clock }: App) => Math.floor(clock.now().getTime() / 1000)

/**
 * In seconds. An LFS token ends with the token that it was issued for. Otherwise a caller could renew access for ever.
 */
export const lifeOf = (app: App, { until }: Principal): number =>
  until === undefined ? TOKEN_LIFE_S : until - nowInSeconds(app)

/** The Authorization header for the operation. Null for an anonymous caller. */
export function lfsAuthorization(
  app: App,
  principal: Principal,
  project: Project,
  operation: Operation,
): string | null {
  const bearer = bearerOf(principal)
  if (!bearer) return null
  const grant: Grant = {
    project: project.id,
    operation,
    ...bearer.is,
    since: app.clock.now().getTime(),
    until: nowInSeconds(app) + lifeOf(app, principal),
  }
  const text = Buffer.from(JSON.stringify(grant)).toString('base64url')
  const token = `lfs.${text}.${app.vault.sign(PURPOSE, text)}`
  return `Basic ${Buffer.from(`${bearer.name}:${token}`).toString('base64')}`
}

interface Bearer {
  readonly name: string
  readonly is: Pick<Grant, 'user' | 'key' | 'deployToken'>
}

function bearerOf({ user, deployKeyId, deployToken }: Principal): Bearer | null {
  if (deployKeyId !== undefined) return { name: `lfs+deploy-key-${deployKeyId}`, is: { key: deployKeyId } }
  if (deployToken) return { name: deployToken.username, is: { deployToken: deployToken.id } }
  return user && { name: user.username, is: { user: user.id } }
}

/** The principal of the token with its current rights: rights and accounts may have been removed since. */
export async function byLfsToken(
  app: App,
  { username, secret }: { username: string; secret: string },
): Promise<Principal | null> {
  const [, text, code] = FORM.exec(secret) ?? []
  if (text === undefined || code === undefined || !sameSecret(code, app.vault.sign(PURPOSE, text))) return null
  const grant = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Grant
  if (grant.until <= nowInSeconds(app)) return null
  const found = await whoseGrant(app, grant)
  if (!found) return null
  const principal: Principal = {
    ...found,
    mayFetch: true,
    mayPush: grant.operation === 'upload',
    via: 'lfs_token',
    projectId: grant.project,
    until: grant.until,
  }
  return bearerOf(principal)?.name === username ? principal : null
}

type Whose = Pick<Principal, 'user' | 'deployKeyId' | 'deployToken'>

async function whoseGrant({ db, clock }: App, { user, key, deployToken, since }: Grant): Promise<Whose | null> {
  if (user !== undefined) {
    const person = await findUser(db, user)
    const revokedAt = Date.parse(person?.credentials_revoked_at ?? '')
    return person?.state === 'active' && !(since <= revokedAt) ? { user: person } : null
  }
  const now = timestamp(clock)
  if (key !== undefined) {
    const found = await findAnyDeployKey(db, key)
    if (!found || (found.expires_at !== null && found.expires_at <= now)) return null
    return { user: found.creator_id === null ? null : await findUser(db, found.creator_id), deployKeyId: key }
  }
  const token = await findUsableDeployToken(db, deployToken!, now)
  return token && { user: null, deployToken: token }
}
