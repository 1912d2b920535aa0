import { z } from 'zod'
import { endpoint, type Endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { Door } from '../../access/sources.ts'
import { groupDoor } from '../../groups/people.ts'
import { projectDoor } from '../../projects/people.ts'
import { DeployTokenEntity, NewDeployTokenEntity, presentDeployToken } from './entity.ts'
import { DEPLOY_TOKEN_SCOPES } from './model.ts'
import { deployToken, listDeployTokens } from './queries.ts'
import { createDeployToken, deleteDeployToken } from './service.ts'

const filter = z.object({ active: bool.nullish() })

export const listAll = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List all deploy tokens',
  allow: 'administrator',
  abilityFirst: true,
  input: filter,
  output: pageOf(DeployTokenEntity),
  async handle({ app, input: { active }, page }) {
    const now = timestamp(app.clock)
    const { items, total } = await listDeployTokens(app.db, null, { active, now }, page)
    return { total, items: items.map((token) => presentDeployToken(token, now)) }
  },
})

const throughBothDoors = (declare: (door: Door) => Endpoint) => [declare(projectDoor), declare(groupDoor)] as const

export const [listOfProject, listOfGroup] = throughBothDoors((door) =>
  endpoint({
    method: 'GET',
    path: `${door.path}/deploy_tokens`,
    summary: `List the deploy tokens of a ${door.kind}`,
    on: door.source,
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

export const [getOfProject, getOfGroup] = throughBothDoors((door) =>
  endpoint({
    method: 'GET',
    path: `${door.path}/deploy_tokens/:token_id`,
    summary: `Get a deploy token of a ${door.kind}`,
    on: deployToken(door),
    allow: 'read',
    output: DeployTokenEntity,
    handle: async ({ app, subject }) => presentDeployToken(subject.token, timestamp(app.clock)),
  }),
)

export const [createForProject, createForGroup] = throughBothDoors((door) =>
  endpoint({
    method: 'POST',
    path: `${door.path}/deploy_tokens`,
    summary: `Create a deploy token for a ${door.kind}`,
    on: door.source,
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

export const [destroyOfProject, destroyOfGroup] = throughBothDoors((door) =>
  endpoint({
    method: 'DELETE',
    path: `${door.path}/deploy_tokens/:token_id`,
    summary: `Delete a deploy token of a ${door.kind}`,
    on: deployToken(door),
    allow: 'read',
    changedAt: ({ token }) => token.created_at,
    output: null,
    handle: ({ app, subject }) => deleteDeployToken(app, subject.token),
  }),
)
