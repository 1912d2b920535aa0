import { z } from 'zod'
import { administratorsFirst, endpoint, type Endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { Scope } from '../../access/scopes.ts'
import { groupScope } from '../../groups/people.ts'
import { projectScope } from '../../projects/people.ts'
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

const atBothMounts = (declare: (scope: Scope) => Endpoint) => [declare(projectScope), declare(groupScope)] as const

export const [listOfProject, listOfGroup] = atBothMounts((scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/deploy_tokens`,
    summary: `List the deploy tokens of a ${scope.kind}`,
    on: scope.source,
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

export const [getOfProject, getOfGroup] = atBothMounts((scope) =>
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

export const [createForProject, createForGroup] = atBothMounts((scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/deploy_tokens`,
    summary: `Create a deploy token for a ${scope.kind}`,
    on: scope.source,
    allow: 'manage',
    input: z.object({
      name: text,
      scopes: listOf(oneOf(...DEPLOY_TOKEN_SCOPES)),
      username: blankable(text),
      expires_at: blankable(moment),
    }),
    output: NewDeployTokenEntity,
    async handle({ app, viewer, subject, input }) {
      const { token, secret } = await createDeployToken(app, viewer, subject.at, input)
      return { ...presentDeployToken(token, timestamp(app.clock)), token: secret }
    },
  }),
)

export const [destroyOfProject, destroyOfGroup] = atBothMounts((scope) =>
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
