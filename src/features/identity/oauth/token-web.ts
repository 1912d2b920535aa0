import type { FastifyRequest } from 'fastify'
import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { presentedCredential } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import { queryOf, readForm, textOf } from '../sessions/forms.ts'
import { byOAuthToken } from './authenticate.ts'
import { authenticateClient } from './clients.ts'
import { NO_STORE, oauthRefusal } from './errors.ts'
import { GRANT_TYPES, exchangeToken } from './exchange.ts'
import { discovery, publicKeys, userInfo } from './openid.ts'
import { findToken, findTokenByEither, isActive } from './queries.ts'
import { toScopes } from './scopes.ts'
import { epoch, revokeToken } from './tokens.ts'

/** The client's side of OAuth: token, revocation and introspection endpoints, and OpenID Connect. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway
  const read = async (request: FastifyRequest): Promise<Raw> => ({
    ...queryOf(request),
    ...(request.method === 'POST' && (await readForm(gateway, request))),
  })

  const config = { readsOnly: true }

  server.post('/oauth/token', { config }, async (request, reply) => {
    const given = await read(request)
    const client = await authenticateClient(app, request, given)
    const token = await exchangeToken(app, { given, client, address: request.ip })
    return send(request, reply.headers(NO_STORE), 200, token)
  })

  server.get('/oauth/token/info', async (request, reply) => {
    const token = await shownToken(app, request, await read(request))
    if (!token || !isActive(app, token)) throw oauthRefusal('invalid_request')
    return send(request, reply, 200, presentTokenInfo(app, token))
  })

  server.post('/oauth/revoke', { config }, async (request, reply) => {
    const given = await read(request)
    const token = await findTokenByEither(app.db, digestOf(textOf(given, 'token') ?? ''))
    if (token && (await mayRevoke(app, request, given, token))) await revokeToken(app, token)
    // The answer reveals nothing about a token of another client.
    return send(request, reply.headers(NO_STORE), 200, {})
  })

  server.post('/oauth/introspect', { config }, async (request, reply) => {
    const given = await read(request)
    const client = await authenticateClient(app, request, given)
    if (!client?.confidential) throw oauthRefusal('invalid_client')
    const token = await findToken(app.db, digestOf(textOf(given, 'token') ?? ''))
    const isTheirs = token?.application_id === client.id && isActive(app, token)
    return send(request, reply.headers(NO_STORE), 200, isTheirs ? presentIntrospection(token) : { active: false })
  })

  server.get('/.well-known/openid-configuration', async (request, reply) =>
    send(request, reply, 200, discovery(app, GRANT_TYPES)),
  )
  server.get('/oauth/discovery/keys', async (request, reply) => send(request, reply, 200, await publicKeys(app)))

  server.route({
    method: ['GET', 'POST'],
    url: '/oauth/userinfo',
    config,
    async handler(request, reply) {
      const shown = presentedCredential(request, await read(request))
      const identity = shown?.as === 'bearer' ? await byOAuthToken(app, shown.secret) : null
      if (!identity) throw oauthRefusal('invalid_token')
      const { user, scopes } = identity
      if (!scopes?.includes('openid')) throw new Refusal('forbidden', undefined, { body: NEEDS_OPENID })
      return send(request, reply, 200, await userInfo(app, user, scopes))
    },
  })
}

const NEEDS_OPENID = {
  error: 'insufficient_scope',
  error_description: 'The request requires higher privileges than provided by the access token.',
  scope: 'openid',
}

type TokenMatch = NonNullable<Awaited<ReturnType<typeof findToken>>>

async function shownToken(app: App, request: FastifyRequest, given: Raw): Promise<TokenMatch | null> {
  const shown = presentedCredential(request, given)
  return shown?.as === 'bearer' ? findToken(app.db, digestOf(shown.secret)) : null
}

/**
 * A client with a secret can revoke only its own tokens and must authenticate. For a public client the token is enough.
 */
async function mayRevoke(app: App, request: FastifyRequest, given: Raw, token: TokenMatch): Promise<boolean> {
  if (!token.client_confidential) return true
  const client = await authenticateClient(app, request, given).catch((error: unknown) => {
    if (error instanceof Refusal) return null
    throw error
  })
  return client?.id === token.application_id
}

const secondsLeft = (app: App, { expires_at }: TokenMatch): number | null =>
  expires_at === null ? null : epoch(expires_at) - Math.floor(app.clock.now().getTime() / 1000)

/** Newer clients read the names `scope` and `expires_in`. */
function presentTokenInfo(app: App, token: TokenMatch) {
  const scopes = toScopes(token.scopes)
  const left = secondsLeft(app, token)
  return {
    resource_owner_id: token.user_id,
    scopes,
    scope: scopes,
    expires_in_seconds: left,
    expires_in: left,
    application: { uid: token.client_uid },
    created_at: epoch(token.created_at),
  }
}

const presentIntrospection = (token: TokenMatch) => ({
  active: true,
  scope: token.scopes,
  client_id: token.client_uid,
  token_type: 'bearer',
  ...(token.expires_at && { exp: epoch(token.expires_at) }),
  iat: epoch(token.created_at),
  ...(token.user_id !== null && { sub: String(token.user_id) }),
})
