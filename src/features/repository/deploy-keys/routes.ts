import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, id, moment, text } from '../../../api/wire.ts'
import { guardedProject } from '../../projects/projects/queries.ts'
import {
  AdministeredDeployKeyEntity,
  DeployKeyEntity,
  presentAdministeredDeployKey,
  presentDeployKey,
} from './entity.ts'
import { deployKey, listDeployKeys, listEnabledKeys } from './queries.ts'
import { addDeployKey, createPublicDeployKey, enableDeployKey, removeDeployKey, updateDeployKey } from './service.ts'

const newKey = { title: text, key: text, expires_at: blankable(moment) }

export const listAll = endpoint({
  method: 'GET',
  path: '/deploy_keys',
  summary: 'List all deploy keys, with the projects they are enabled in',
  ...administratorsFirst,
  input: z.object({ public: bool.nullish() }),
  output: pageOf(AdministeredDeployKeyEntity),
  async handle({ app, input, page }) {
    const { items, total } = await listDeployKeys(app.db, input, page)
    return { total, items: items.map(presentAdministeredDeployKey) }
  },
})

export const createPublic = endpoint({
  method: 'POST',
  path: '/deploy_keys',
  summary: 'Add a deploy key that any project may enable',
  ...administratorsFirst,
  input: z.object(newKey),
  output: AdministeredDeployKeyEntity,
  async handle({ app, viewer, input }) {
    const key = await createPublicDeployKey(app, viewer, input)
    return presentAdministeredDeployKey({ ...key, projects: [] })
  },
})

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_keys',
  summary: 'List the deploy keys of a project',
  on: guardedProject,
  allow: 'administer',
  output: pageOf(DeployKeyEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listEnabledKeys(app.db, subject.project.id, page)
    return { total, items: items.map(presentDeployKey) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Get a deploy key of a project',
  on: deployKey,
  allow: 'administer',
  output: DeployKeyEntity,
  handle: async ({ subject }) => presentDeployKey(subject.key),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/deploy_keys',
  summary: 'Add a deploy key to a project, or enable an existing key',
  on: guardedProject,
  allow: 'administer',
  input: z.object({ ...newKey, can_push: bool.nullish() }),
  output: DeployKeyEntity,
  async handle({ app, viewer, subject, input }) {
    return presentDeployKey(await addDeployKey(app, viewer, subject.project, input))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Update a deploy key',
  on: deployKey,
  allow: 'administer',
  alsoAsks: ['administer the instance, for the title of a public key'],
  input: z
    .object({ title: text.nullish(), can_push: bool.nullish() })
    .refine(({ title, can_push }) => title !== undefined || can_push !== undefined, {
      message: 'title, can_push are missing, at least one parameter must be provided',
    }),
  output: DeployKeyEntity,
  async handle({ app, viewer, subject, input }) {
    return presentDeployKey(await updateDeployKey(app, viewer, subject.project, subject.key, input))
  },
})

export const enable = endpoint({
  method: 'POST',
  path: '/projects/:id/deploy_keys/:key_id/enable',
  summary: 'Enable a deploy key that is public, or known from another project of the caller',
  on: guardedProject,
  allow: 'administer',
  input: z.object({ key_id: id }),
  output: DeployKeyEntity,
  async handle({ app, viewer, subject, input }) {
    return presentDeployKey(await enableDeployKey(app, viewer, subject.project, input.key_id))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Remove a deploy key from a project; an unused private key is deleted',
  on: { ...deployKey, name: 'Deploy Key' },
  allow: 'administer',
  changedAt: ({ key }) => key.linked_at,
  output: null,
  handle: ({ app, subject }) => removeDeployKey(app, subject.project, subject.key),
})
