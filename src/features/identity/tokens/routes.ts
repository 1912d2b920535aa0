import { z } from 'zod'
import { SCOPES } from '../../../api/credentials.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, date, id, listOf, longText, oneOf, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import { forbidden, unauthenticated } from '../../../errors.ts'
import { userByUserId } from '../users/queries.ts'
import {
  NewPersonalTokenEntity,
  PersonalTokenDetailsEntity,
  PersonalTokenEntity,
  presentNewPersonalToken,
  presentPersonalToken,
  presentPersonalTokenDetails,
} from './entity.ts'
import { tokenFilters } from './filters.ts'
import { grantableScopes } from './policy.ts'
import { listPersonalTokens, personalToken, scopesFrom, presentedAccessToken } from './queries.ts'
import { createToken, revokeToken, rotateToken } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  summary: 'List personal access tokens',
  allow: 'signed_in',
  alsoAsks: ['administer the instance, for tokens of other users'],
  input: z.object({
    user_id: blankable(id),
    state: oneOf('active', 'inactive').nullish(),
    revoked: bool.nullish(),
    search: text.nullish(),
    ...tokenFilters,
  }),
  output: pageOf(PersonalTokenEntity),
  async handle({ app, viewer, input, page }) {
    const userId = input.user_id ?? (viewer.admin ? null : viewer.id)
    if (userId !== viewer.id && !viewer.admin) throw unauthenticated()
    const now = today(app.clock)
    const { items, total } = await listPersonalTokens(app.db, { ...input, user_id: userId }, now, page)
    return { total, items: items.map((token) => presentPersonalToken(token, now)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/:id',
  summary: 'Get a personal access token',
  on: personalToken,
  allow: 'read',
  output: PersonalTokenDetailsEntity,
  handle: async ({ app, subject }) => presentPersonalTokenDetails(subject.token, today(app.clock)),
})

export const getSelf = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  summary: 'Get the token this request shows',
  allow: 'signed_in',
  scopes: SCOPES,
  output: PersonalTokenDetailsEntity,
  handle: async ({ app, caller }) =>
    presentPersonalTokenDetails(await presentedAccessToken(app.db, caller), today(app.clock)),
})

const rotation = z.object({ expires_at: blankable(date) })

export const rotate = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/:id/rotate',
  summary: 'Rotate a personal access token',
  on: personalToken,
  allow: 'manage',
  alsoAsks: ['grant the scopes of the token'],
  input: rotation,
  output: NewPersonalTokenEntity,
  status: 200,
  async handle({ app, viewer, caller, subject, input }) {
    const grantable = grantableScopes(viewer, caller)
    if (!scopesFrom(subject.token.scopes).every((scope) => grantable.includes(scope))) throw forbidden()
    const rotated = await rotateToken(app, subject.token, input.expires_at)
    return presentNewPersonalToken(rotated, today(app.clock))
  },
})

export const rotateSelf = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  summary: 'Rotate the token of this request',
  allow: 'signed_in', // and `api`: a leaked read-only token must not renew itself for ever
  alsoAsks: ['renew the token, which impersonation tokens do not have'],
  input: rotation,
  output: NewPersonalTokenEntity,
  status: 200,
  async handle({ app, caller, input }) {
    const token = await presentedAccessToken(app.db, caller)
    // Only administrators decide how long an impersonation token is valid.
    if (token.kind === 'impersonation') throw forbidden()
    const rotated = await rotateToken(app, token, input.expires_at)
    return presentNewPersonalToken(rotated, today(app.clock))
  },
})

export const revoke = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/:id',
  summary: 'Revoke a personal access token',
  on: personalToken,
  allow: 'manage',
  changedAt: ({ token }) => token.updated_at,
  output: null,
  handle: ({ app, subject }) => revokeToken(app, subject.token),
})

export const revokeSelf = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  summary: 'Revoke the token of this request',
  allow: 'signed_in',
  scopes: SCOPES,
  output: null,
  handle: async ({ app, caller }) => revokeToken(app, await presentedAccessToken(app.db, caller)),
})

const attributes = z.object({
  name: text,
  scopes: listOf(text),
  expires_at: blankable(date),
  description: longText.nullish(),
})

export const createForUser = endpoint({
  method: 'POST',
  path: '/users/:user_id(\\d+)/personal_access_tokens',
  summary: 'Create a personal access token for a user',
  on: userByUserId,
  allow: 'administrator',
  input: attributes,
  output: NewPersonalTokenEntity,
  async handle({ app, viewer, caller, subject, input }) {
    const created = await createToken(app, subject.user, 'personal', input, grantableScopes(viewer, caller))
    return presentNewPersonalToken(created, today(app.clock))
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/user/personal_access_tokens',
  summary: 'Create a personal access token for oneself',
  allow: 'signed_in',
  input: attributes,
  output: NewPersonalTokenEntity,
  async handle({ app, viewer, caller, input }) {
    const created = await createToken(app, viewer, 'personal', input, grantableScopes(viewer, caller))
    return presentNewPersonalToken(created, today(app.clock))
  },
})
