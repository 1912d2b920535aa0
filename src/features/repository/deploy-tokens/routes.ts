import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { filled, limited, notEmpty, rule } from '../../../api/rules.ts'
import { blankable, bool, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import { groupScope } from '../../groups/scope.ts'
import { projectScope } from '../../projects/scope.ts'
import { DeployTokenEntity, NewDeployTokenEntity, presentDeployToken } from './entity.ts'
import { DEPLOY_TOKEN_SCOPES } from './model.ts'
import { deployToken, listDeployTokens } from './queries.ts'
import { createDeployToken, deleteDeployToken } from './service.ts'

const filter = z.object({ active: bool.nullish() })

export const listAll = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List all deploy tokens',
  ...administratorsFirst,
  input: filter,
  output: pageOf(DeployTokenEntity),
  async handle({ app, input: { active }, page }) {
    const now = timestamp(app.clock)
    const { items, total } = await listDeployTokens(app.db, null, { active, now }, page)
    return { total, items: items.map((token) => presentDeployToken(token, now)) }
  },
})

const SCOPES = [projectScope, groupScope] as const

export const [listOfProject, listOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/deploy_tokens`,
    summary: `List the deploy tokens of a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    input: filter,
    output: pageOf(DeployTokenEntity),
    async handle({ app, subject, input: { active }, page }) {
      const now = timestamp(app.clock)
      const { items, total } = await listDeployTokens(app.db, subject.at, { active, now }, page)
      return { total, items: items.map((token) => presentDeployToken(token, now)) }
    },
  }),
)

export const [getOfProject, getOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/deploy_tokens/:token_id`,
    summary: `Get a deploy token of a ${scope.kind}`,
    on: deployToken(scope),
    allow: 'manage',
    output: DeployTokenEntity,
    handle: async ({ app, subject }) => presentDeployToken(subject.token, timestamp(app.clock)),
  }),
)

const username = limited(text, 255, { last: true }).check(
  rule((value) => /^[\w.+-]+$/.test(value), "can contain only letters, digits, '_', '-', '+', and '.'"),
)

export const [createForProject, createForGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/deploy_tokens`,
    summary: `Create a deploy token for a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    input: z.object({
      name: filled(text, 255),
      scopes: notEmpty(listOf(oneOf(...DEPLOY_TOKEN_SCOPES))),
      username: blankable(username),
      expires_at: blankable(moment),
    }),
    output: NewDeployTokenEntity,
    async handle({ app, viewer, subject, input }) {
      const { token, secret } = await createDeployToken(app, viewer, subject.at, input)
      return { ...presentDeployToken(token, timestamp(app.clock)), token: secret }
    },
  }),
)

export const [destroyOfProject, destroyOfGroup] = atScopes(SCOPES, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/deploy_tokens/:token_id`,
    summary: `Delete a deploy token of a ${scope.kind}`,
    on: deployToken(scope),
    allow: 'manage',
    changedAt: ({ token }) => token.created_at,
    output: null,
    handle: ({ app, subject }) => deleteDeployToken(app, subject.token),
  }),
)
