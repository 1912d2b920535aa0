import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool } from '../../../api/wire.ts'
import { forbidden } from '../../../errors.ts'
import { userScopes } from '../user-scopes.ts'
import { revokeToken } from '../oauth/tokens.ts'
import { replacePrivateToken } from '../tokens/service.ts'
import { user } from '../users/queries.ts'
import {
  OAuthTokenEntity,
  PrivateTokenEntity,
  RevokedEntity,
  SessionEntity,
  presentOAuthToken,
  presentSession,
} from './entity.ts'
import { listOAuthTokens, listSessions, oauthToken, session } from './queries.ts'
import { revokeCredentials, revokeSession } from './service.ts'

export const rotateOwnPrivateToken = endpoint({
  method: 'POST',
  path: '/user/private_token/rotate',
  summary: 'Reset the private token of the signed-in user',
  allow: 'signed_in',
  inPerson: true,
  alsoAsks: ['use all scopes'],
  output: PrivateTokenEntity,
  status: 200,
  async handle({ app, viewer, caller: { identity } }) {
    // A token with limited scopes must not obtain the private token, which has all rights.
    if (identity?.scopes !== null) throw forbidden()
    return { private_token: await replacePrivateToken(app, viewer) }
  },
})

export const rotatePrivateToken = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/private_token/rotate',
  summary: 'Reset the private token of a user',
  on: user,
  allow: 'administrator',
  output: null,
  status: 204,
  async handle({ app, subject }) {
    await replacePrivateToken(app, subject.user)
  },
})

export const [listOwnSessions, listSessionsOfUser] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/sessions`,
    summary: `List the web sessions ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    output: pageOf(SessionEntity),
    async handle({ app, caller: { identity }, subject, page }) {
      const { items, total } = await listSessions(app, subject.owner, page)
      const current = identity?.kind === 'session' ? (identity.tokenId ?? null) : null
      return { total, items: items.map((one) => presentSession(one, current)) }
    },
  }),
)

export const [revokeOwnSession, revokeSessionOfUser] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/sessions/:session_id`,
    summary: `End a web session ${scope.whose}`,
    on: session(scope),
    allow: scope.allow,
    changedAt: ({ session }) => session.created_at,
    output: null,
    handle: ({ app, subject }) => revokeSession(app, subject.session),
  }),
)

export const [listOwnOAuthTokens, listOAuthTokensOfUser] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/oauth_tokens`,
    summary: `List the OAuth tokens ${scope.whose}`,
    on: scope.resource,
    allow: scope.allow,
    output: pageOf(OAuthTokenEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listOAuthTokens(app, subject.owner, page)
      return { total, items: items.map(presentOAuthToken) }
    },
  }),
)

export const [revokeOwnOAuthToken, revokeOAuthTokenOfUser] = atScopes(userScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/oauth_tokens/:oauth_token_id`,
    summary: `Revoke an OAuth token ${scope.whose}`,
    on: oauthToken(scope),
    allow: scope.allow,
    changedAt: ({ token }) => token.created_at,
    output: null,
    async handle({ app, subject }) {
      await revokeToken(app, subject.token)
    },
  }),
)

export const revokeOwn = endpoint({
  method: 'POST',
  path: '/user/revoke_credentials',
  summary: 'Revoke all tokens and sessions of the signed-in user, including the current token',
  allow: 'signed_in',
  output: RevokedEntity,
  status: 200,
  handle: ({ app, viewer }) => revokeCredentials(app, viewer, { keys: false }),
})

export const revoke = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/revoke_credentials',
  summary: 'Revoke all tokens and sessions of a user, optionally also SSH keys',
  on: user,
  allow: 'administrator',
  input: z.object({ keys: bool.nullish() }),
  output: RevokedEntity,
  status: 200,
  handle: ({ app, subject, input }) => revokeCredentials(app, subject.user, { keys: input.keys ?? false }),
})
