import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { oneOf } from '../../../api/wire.ts'
import { JobEntity } from '../jobs/entity.ts'
import { presentJobs } from '../jobs/queries.ts'
import { ciProject } from '../pipelines/queries.ts'
import { ResourceGroupEntity, presentResourceGroup } from './entity.ts'
import { PROCESS_MODES } from './model.ts'
import { listResourceGroups, listUpcoming, resourceGroup } from './queries.ts'
import { changeMode } from './service.ts'

const PATH = '/projects/:id/resource_groups'
const ITEM = `${PATH}/:key` as const

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the resource groups of a project',
  on: ciProject,
  allow: 'run',
  output: pageOf(ResourceGroupEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listResourceGroups(app.db, subject.project.id, page)
    return { total, items: items.map(presentResourceGroup) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a resource group',
  on: resourceGroup,
  allow: 'run',
  output: ResourceGroupEntity,
  handle: async ({ subject }) => presentResourceGroup(subject.group),
})

export const upcoming = endpoint({
  method: 'GET',
  path: `${ITEM}/upcoming_jobs`,
  summary: 'List the jobs that wait for a resource',
  on: resourceGroup,
  allow: 'run',
  limiter: 'git',
  output: pageOf(JobEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listUpcoming(app.db, subject.group, page)
    return { total, items: await presentJobs(app, subject, items) }
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update the process mode of a resource group',
  on: resourceGroup,
  allow: 'run',
  input: z.object({ process_mode: oneOf(...PROCESS_MODES) }),
  output: ResourceGroupEntity,
  handle: async ({ app, subject, input }) =>
    presentResourceGroup(await changeMode(app, subject.group, input.process_mode)),
})
