import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, moment, oneOf, text } from '../../../api/wire.ts'
import { DeploymentEntity } from './entity.ts'
import { DEPLOYMENT_ORDERS, listDeployments } from './lists.ts'
import { DEPLOYMENT_STATUSES } from './model.ts'
import {
  deployedProject,
  deployment,
  findEnvironmentByName,
  presentDeployments,
  presentOneDeployment,
} from './queries.ts'
import { REPORTED, createDeployment, deleteDeployment, updateDeployment } from './reported.ts'

const PATH = '/projects/:id/deployments'
const ITEM = `${PATH}/:deployment_id` as const

export const listDeployed = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the deployments of a project',
  on: deployedProject,
  allow: 'readEnvironments',
  by: ['user', 'job'],
  limiter: 'git',
  input: z.object({
    order_by: oneOf(...DEPLOYMENT_ORDERS).nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    environment: text.nullish(),
    status: oneOf(...DEPLOYMENT_STATUSES).nullish(),
    updated_after: blankable(moment),
    updated_before: blankable(moment),
    finished_after: blankable(moment),
    finished_before: blankable(moment),
  }),
  output: pageOf(DeploymentEntity),
  async handle({ app, subject, input, page }) {
    const { order_by, sort, environment: name, ...filter } = input
    const { id: project } = subject.project
    const found = name ? await findEnvironmentByName(app.db, project, name) : undefined
    if (found === null) return { total: 0, items: [] }
    const conditions = Object.fromEntries(Object.entries(filter).filter(([, value]) => (value ?? null) !== null))
    const values = { project, ...conditions, ...(found && { environment: found.id }) }
    const { items, total } = await listDeployments(app.db, values, page, { order_by, sort: sort ?? 'asc' })
    return { total, items: await presentDeployments(app, subject, items) }
  },
})

export const getDeployment = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a deployment',
  on: deployment,
  allow: 'readEnvironments',
  by: ['user', 'job'],
  limiter: 'git',
  output: DeploymentEntity,
  handle: ({ app, subject }) => presentOneDeployment(app, subject, subject.deployment),
})

const status = oneOf(...REPORTED)

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a deployment',
  on: deployedProject,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  by: ['user', 'job'],
  limiter: 'git',
  input: z.object({ environment: text, sha: text, ref: text, tag: bool, status }),
  output: DeploymentEntity,
  async handle({ app, viewer, subject, input }) {
    return presentOneDeployment(app, subject, await createDeployment(app, viewer, subject, input))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update a deployment',
  on: deployment,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  by: ['user', 'job'],
  limiter: 'git',
  input: z.object({ status }),
  output: DeploymentEntity,
  async handle({ app, subject, input }) {
    const updated = await updateDeployment(app, subject, subject.deployment, input.status)
    return presentOneDeployment(app, subject, updated)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a deployment that is not the current one',
  on: deployment,
  allow: 'manageEnvironments',
  by: ['user', 'job'],
  changedAt: ({ deployment }) => deployment.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteDeployment(app, subject.deployment),
})
