/** OpenID Connect: identity tokens, signed with a key that is created once and stored encrypted. */
import { createPrivateKey, createPublicKey, generateKeyPair, hash, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { SCOPES, type Scope } from '../../../api/credentials.ts'
import type { App, User } from '../../../context.ts'
import { findSecret, keepSecret } from '../../instance/settings/secrets.ts'
import { presentUserSummary } from '../users/entity.ts'
import { surroundings } from '../users/queries.ts'
import type { Application } from './queries.ts'
import { epoch } from './tokens.ts'

/** Not a setting of the instance: rows with this prefix are excluded from the settings record. */
const KEY_NAME = 'secret:oidc_signing_key'
const ID_TOKEN_SECONDS = 120

interface SigningKey {
  readonly key: KeyObject
  readonly jwk: { kid: string; kty: 'RSA'; n: string; e: string; use: 'sig'; alg: 'RS256' }
}

const known = new WeakMap<object, Promise<SigningKey>>()

function signingKey(app: App): Promise<SigningKey> {
  const cached = known.get(app.store)
  if (cached) return cached
  const opened = openKey(app)
  known.set(app.store, opened)
  opened.catch(() => known.delete(app.store))
  return opened
}

async function openKey(app: App): Promise<SigningKey> {
  const key = createPrivateKey((await findSecret(app, KEY_NAME)) ?? (await createKey(app)))
  const { n, e } = createPublicKey(key).export({ format: 'jwk' }) as { n: string; e: string }
  // The thumbprint of RFC 7638: members in this order, nothing else.
  const kid = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url')
  return { key, jwk: { kid, kty: 'RSA', n, e, use: 'sig', alg: 'RS256' } }
}

async function createKey(app: App): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return keepSecret(app, KEY_NAME, pem)
}

export async function publicKeys(app: App) {
  return { keys: [(await signingKey(app)).jwk] }
}

export interface SignedIn {
  user: User
  client: Application
  nonce: string | null
}

export function idToken(app: App, { user, client, nonce }: SignedIn): Promise<string> {
  const now = Math.floor(app.clock.now().getTime() / 1000)
  return signToken(app, {
    iss: app.url,
    sub: String(user.id),
    aud: client.uid,
    exp: now + ID_TOKEN_SECONDS,
    iat: now,
    ...(user.current_sign_in_at && { auth_time: epoch(user.current_sign_in_at) }),
    ...(nonce && { nonce }),
  })
}

const signEmbedded = promisify<string, Buffer, KeyObject, Buffer>(sign)

/** A JWT that can be verified with the keys of `/oauth/discovery/keys`. */
export async function signToken(app: App, claims: object): Promise<string> {
  const { key, jwk } = await signingKey(app)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const body = `${part({ typ: 'JWT', alg: 'RS256', kid: jwk.kid })}.${part(claims)}`
  return `${body}.${(await signEmbedded('RSA-SHA256', Buffer.from(body), key)).toString('base64url')}`
}

export async function userInfo(app: App, user: User, scopes: readonly Scope[]) {
  const { username, name, web_url, avatar_url } = presentUserSummary(user, await surroundings(app))
  return {
    sub: String(user.id),
    name,
    nickname: username,
    preferred_username: username,
    ...(scopes.includes('email') && { email: user.email, email_verified: user.confirmed_at !== null }),
    ...(user.website_url && { website: user.website_url }),
    profile: web_url,
    ...(avatar_url && { picture: avatar_url }),
  }
}

export const discovery = ({ url }: App, grantTypes: readonly string[]) => ({
  issuer: url,
  authorization_endpoint: `${url}/oauth/authorize`,
  token_endpoint: `${url}/oauth/token`,
  revocation_endpoint: `${url}/oauth/revoke`,
  introspection_endpoint: `${url}/oauth/introspect`,
  userinfo_endpoint: `${url}/oauth/userinfo`,
  jwks_uri: `${url}/oauth/discovery/keys`,
  scopes_supported: SCOPES,
  response_types_supported: ['code', 'token'],
  response_modes_supported: ['query', 'fragment'],
  grant_types_supported: grantTypes,
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  claims_supported: [
    'iss',
    'sub',
    'aud',
    'exp',
    'iat',
    'auth_time',
    'nonce',
    'name',
    'nickname',
    'preferred_username',
    'email',
    'email_verified',
    'website',
    'profile',
    'picture',
  ],
  code_challenge_methods_supported: ['S256', 'plain'],
})
