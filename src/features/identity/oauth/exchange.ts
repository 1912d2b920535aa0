/** The token endpoint: four grant types, which fail with the error codes of the standard. */
import { hash } from 'node:crypto'
import { SCOPES } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { digestOf, sameSecret } from '../../../lib/crypto/secrets.ts'
import { transact } from '../../../store/transact.ts'
import { lockCredentials } from '../sessions/ending.ts'
import { textOf } from '../sessions/forms.ts'
import { signIn } from '../sessions/service.ts'
import { findUser } from '../users/queries.ts'
import { oauthRefusal } from './errors.ts'
import { idToken } from './openid.ts'
import type { Application, Grant } from './queries.ts'
import { chosenScopes, toScopes } from './scopes.ts'
import { issueToken, revokeChain, revokeToken, type TokenAnswer } from './tokens.ts'

export interface Exchange {
  readonly given: Raw
  readonly client: Application | null
  readonly address: string
}

type GrantType = (app: App, exchange: Exchange) => Promise<TokenAnswer>

export function exchangeToken(app: App, exchange: Exchange): Promise<TokenAnswer> {
  const type = textOf(exchange.given, 'grant_type')
  if (!type) throw oauthRefusal('invalid_request')
  const grantType = grantTypes.get(type)
  if (!grantType) throw oauthRefusal('unsupported_grant_type')
  return grantType(app, exchange)
}

const byCode: GrantType = async (app, { given, client }) => {
  if (!client) throw oauthRefusal('invalid_client')
  const code = textOf(given, 'code')
  if (!code) throw oauthRefusal('invalid_request')
  const grant = await app.db
    .selectFrom('oauth_grants')
    .selectAll()
    .where('digest', '=', digestOf(code))
    .where('application_id', '=', client.id)
    .executeTakeFirst()
  if (!grant || !fits(app, grant, given)) throw oauthRefusal('invalid_grant')
  const user = await activeUser(app, grant.user_id)
  const scopes = toScopes(grant.scopes)
  const answer = await transact(app, async (app) => {
    await lockCredentials(app, user.id)
    if (!(await claim(app, grant))) return null
    return issueToken(app, { application: client, user, scopes, grantId: grant.id, refreshable: true })
  })
  if (!answer) {
    await revokeChain(app, grant.id)
    throw oauthRefusal('invalid_grant')
  }
  if (!scopes.includes('openid')) return answer
  return { ...answer, id_token: await idToken(app, { user, client, nonce: grant.nonce }) }
}

/** A used code matches too: the caller then revokes the tokens that came from it. */
function fits(app: App, grant: Grant, given: Raw): boolean {
  if (grant.used_at === null && grant.expires_at <= timestamp(app.clock)) return false
  if (textOf(given, 'redirect_uri') !== grant.redirect_uri) return false
  const verifier = textOf(given, 'code_verifier') || null
  // A verifier without a challenge shows that the challenge was removed on the way.
  if (grant.code_challenge === null || verifier === null) return grant.code_challenge === verifier
  const proof = grant.code_challenge_method === 'S256' ? hash('sha256', verifier, 'base64url') : verifier
  return sameSecret(proof, grant.code_challenge)
}

async function claim(app: App, { id }: Grant): Promise<boolean> {
  const claimed = await app.db
    .updateTable('oauth_grants')
    .set({ used_at: timestamp(app.clock) })
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return claimed !== undefined
}

async function activeUser(app: App, id: number): Promise<User> {
  const user = await findUser(app.db, id)
  if (user?.state !== 'active') throw oauthRefusal('invalid_grant')
  return user
}

const byRefreshToken: GrantType = async (app, { given, client }) => {
  const secret = textOf(given, 'refresh_token')
  if (!secret) throw oauthRefusal('invalid_request')
  const old = await app.db
    .selectFrom('oauth_tokens')
    .selectAll()
    .where('refresh_digest', '=', digestOf(secret))
    .executeTakeFirst()
  if (!old || old.application_id !== (client?.id ?? null) || old.user_id === null) throw oauthRefusal('invalid_grant')
  const user = await activeUser(app, old.user_id)
  const scopes = chosenScopes(textOf(given, 'scope') ?? old.scopes, toScopes(old.scopes))
  const answer = await transact(app, async (app) => {
    await lockCredentials(app, user.id)
    if (!(await revokeToken(app, old))) return null
    return issueToken(app, { application: client, user, scopes, grantId: old.grant_id, refreshable: true })
  })
  if (answer) return answer
  if (old.grant_id !== null) await revokeChain(app, old.grant_id)
  throw oauthRefusal('invalid_grant')
}

const byPassword: GrantType = async (app, { given, client, address }) => {
  const login = textOf(given, 'username') ?? textOf(given, 'email')
  const password = textOf(given, 'password')
  if (!login || !password) throw oauthRefusal('invalid_request')
  const scopes = chosenScopes(textOf(given, 'scope'), client ? toScopes(client.scopes) : SCOPES)
  const user = await signIn(app, { login, password, address }).catch((error: unknown) => {
    throw error instanceof Refusal && error.kind === 'unauthenticated' ? oauthRefusal('invalid_grant') : error
  })
  return issueToken(app, { application: client, user, scopes, refreshable: true })
}

/** The client acts for itself: no user and no refresh token, since the client can request a new token at any time. */
const byClient: GrantType = async (app, { given, client }) => {
  if (!client) throw oauthRefusal('invalid_client')
  if (!client.confidential) throw oauthRefusal('unauthorized_client')
  const scopes = chosenScopes(textOf(given, 'scope'), toScopes(client.scopes))
  return issueToken(app, { application: client, user: null, scopes, refreshable: false })
}

const grantTypes = new Map<string, GrantType>([
  ['authorization_code', byCode],
  ['refresh_token', byRefreshToken],
  ['password', byPassword],
  ['client_credentials', byClient],
])
export const GRANT_TYPES = [...grantTypes.keys()]
