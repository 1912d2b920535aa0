import { z } from 'zod'
import { administratorsFirst, endpoint, type Endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { Mount } from '../../access/sources.ts'
import { groupMount } from '../../groups/people.ts'
import { projectMount } from '../../projects/people.ts'
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

const atBothMounts = (declare: (mount: Mount) => Endpoint) => [declare(projectMount), declare(groupMount)] as const

export const [listOfProject, listOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/deploy_tokens`,
    summary: `List the deploy tokens of a ${mount.kind}`,
    on: mount.source,
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

export const [getOfProject, getOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/deploy_tokens/:token_id`,
    summary: `Get a deploy token of a ${mount.kind}`,
    on: deployToken(mount),
    allow: 'manage',
    output: DeployTokenEntity,
    handle: async ({ app, subject }) => presentDeployToken(subject.token, timestamp(app.clock)),
  }),
)

export const [createForProject, createForGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'POST',
    path: `${mount.path}/deploy_tokens`,
    summary: `Create a deploy token for a ${mount.kind}`,
    on: mount.source,
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

export const [destroyOfProject, destroyOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/deploy_tokens/:token_id`,
    summary: `Delete a deploy token of a ${mount.kind}`,
    on: deployToken(mount),
    allow: 'manage',
    changedAt: ({ token }) => token.created_at,
    output: null,
    handle: ({ app, subject }) => deleteDeployToken(app, subject.token),
  }),
)
