import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { blankable, bool, date, int, listOf, oneOf, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import { grantableScopes } from '../../identity/tokens/policy.ts'
import { tokenFilters } from '../../identity/tokens/filters.ts'
import { projectScope } from '../../projects/scope.ts'
import { groupScope } from '../scope.ts'
import { NewResourceTokenEntity, ResourceTokenEntity, presentResourceToken } from './entity.ts'
import { listTokens, resourceToken } from './queries.ts'
import { createResourceToken, revokeResourceToken, rotateResourceToken } from './service.ts'

const SCOPES = [projectScope, groupScope] as const

const managing = { allow: 'manage', denied: 'unauthenticated' } as const

export const [listOfProject, listOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/access_tokens`,
    summary: `List the access tokens of a ${scope.kind}`,
    on: scope.resource,
    ...managing,
    input: z.object({
      state: oneOf('active', 'inactive').nullish(),
      revoked: bool.nullish(),
      search: text.nullish(),
      ...tokenFilters,
    }),
    output: pageOf(ResourceTokenEntity),
    async handle({ app, subject, input, page }) {
      const now = today(app.clock)
      const { items, total } = await listTokens(app.db, subject.at, input, now, page)
      return { total, items: items.map((token) => presentResourceToken(token, subject.at, now)) }
    },
  }),
)

export const [getOfProject, getOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/access_tokens/:token_id`,
    summary: `Get an access token of a ${scope.kind}`,
    on: resourceToken(scope),
    ...managing,
    output: ResourceTokenEntity,
    handle: async ({ app, subject }) => presentResourceToken(subject.token, subject.at, today(app.clock)),
  }),
)

export const [createForProject, createForGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/access_tokens`,
    summary: `Create an access token for a ${scope.kind}`,
    on: scope.resource,
    allow: 'read', // callers without the right get 400, from the service
    input: z.object({
      name: text,
      scopes: listOf(text),
      access_level: blankable(int),
      expires_at: blankable(date),
      description: text.nullish(),
    }),
    output: NewResourceTokenEntity,
    async handle({ app, viewer, caller, subject, input }) {
      const grantable = grantableScopes(viewer, caller).filter((name) => name !== 'sudo')
      const { token, secret } = await createResourceToken(app, viewer, subject, input, grantable)
      return { ...presentResourceToken(token, subject.at, today(app.clock)), token: secret }
    },
  }),
)

export const [rotateOfProject, rotateOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/access_tokens/:token_id/rotate`,
    summary: `Rotate an access token of a ${scope.kind}`,
    on: resourceToken(scope),
    ...managing,
    input: z.object({ expires_at: blankable(date) }),
    output: NewResourceTokenEntity,
    status: 200,
    async handle({ app, subject, input }) {
      const { token, secret } = await rotateResourceToken(app, subject.token, input.expires_at)
      return { ...presentResourceToken(token, subject.at, today(app.clock)), token: secret }
    },
  }),
)

export const [revokeOfProject, revokeOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/access_tokens/:token_id`,
    summary: `Revoke an access token of a ${scope.kind}`,
    on: resourceToken(scope),
    ...managing,
    changedAt: ({ token }) => token.updated_at,
    output: null,
    handle: ({ app, viewer, subject }) => revokeResourceToken(app, viewer, subject.token),
  }),
)
