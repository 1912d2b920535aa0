import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, date, listOf, oneOf, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { AccessToken } from '../tokens/model.ts'
import { grantableScopes } from '../tokens/policy.ts'
import { createToken, revokeToken } from '../tokens/service.ts'
import { userByUserId } from '../users/queries.ts'
import { ImpersonationTokenEntity, presentImpersonationToken } from './entity.ts'
import { impersonationToken, listImpersonationTokens } from './queries.ts'

const PATH = '/users/:user_id(\\d+)/impersonation_tokens'

/** The contract shows the value on every read, so the value is stored encrypted. */
const present = (app: App, token: AccessToken) =>
  presentImpersonationToken(token, app.vault.open(token.sealed!), today(app.clock))

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the impersonation tokens of a user',
  on: userByUserId,
  ...administratorsFirst,
  secret: true,
  input: z.object({ state: oneOf('all', 'active', 'inactive').nullish() }),
  output: pageOf(ImpersonationTokenEntity),
  async handle({ app, subject, input, page }) {
    const state = input.state && input.state !== 'all' ? input.state : null
    const { items, total } = await listImpersonationTokens(app.db, subject.user, state, today(app.clock), page)
    return { total, items: items.map((token) => present(app, token)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: `${PATH}/:impersonation_token_id`,
  summary: 'Get an impersonation token of a user',
  on: impersonationToken,
  ...administratorsFirst,
  secret: true,
  output: ImpersonationTokenEntity,
  handle: async ({ app, subject }) => present(app, subject.token),
})

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create an impersonation token for a user',
  on: userByUserId,
  ...administratorsFirst,
  input: z.object({ name: text, scopes: listOf(text), expires_at: blankable(date) }),
  output: ImpersonationTokenEntity,
  async handle({ app, viewer, caller, subject, input }) {
    const grantable = grantableScopes(viewer, caller)
    const { token } = await createToken(app, subject.user, 'impersonation', input, grantable)
    return present(app, token)
  },
})

export const revoke = endpoint({
  method: 'DELETE',
  path: `${PATH}/:impersonation_token_id`,
  summary: 'Revoke an impersonation token of a user',
  on: impersonationToken,
  ...administratorsFirst,
  changedAt: ({ token }) => token.updated_at,
  output: null,
  handle: ({ app, subject }) => revokeToken(app, subject.token),
})
