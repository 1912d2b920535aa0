import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { date, oneOf } from '../../../api/wire.ts'
import { profile } from '../../identity/users/queries.ts'
import { project } from '../../projects/projects/queries.ts'
import { EventEntity } from './entity.ts'
import { listActivities } from './lists.ts'
import { ACTIONS, TARGETS } from './model.ts'
import { presentEvents } from './queries.ts'

const input = z.object({
  action: oneOf(...ACTIONS).nullish(),
  target_type: oneOf(...TARGETS).nullish(),
  before: date.nullish(),
  after: date.nullish(),
  sort: oneOf('asc', 'desc').nullish(),
})

export const list = endpoint({
  method: 'GET',
  path: '/events',
  summary: 'List events of the signed-in user; with `scope=all`, of all their projects',
  allow: 'signed_in',
  scopes: ['read_user'],
  input: input.extend({ scope: oneOf('all').nullish() }),
  output: pageOf(EventEntity),
  async handle({ app, viewer, input, page }) {
    const scope = input.scope === 'all' ? { member: viewer.id } : { author: viewer.id }
    const { items, total } = await listActivities(app, viewer, scope, input, page)
    return { total, items: await presentEvents(app, items) }
  },
})

export const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:user_id/events',
  summary: 'List what a user did where one may look',
  on: profile,
  allow: 'read',
  by: 'visitor',
  scopes: ['read_user'],
  input,
  output: pageOf(EventEntity),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listActivities(app, viewer, { author: subject.user.id }, input, page)
    return { total, items: await presentEvents(app, items) }
  },
})

export const listOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/events',
  summary: 'List what happened in a project',
  on: project,
  allow: 'read',
  by: 'visitor',
  input,
  output: pageOf(EventEntity),
  async handle({ app, viewer, subject, input, page }) {
    const { items, total } = await listActivities(app, viewer, { project: subject.project.id }, input, page)
    return { total, items: await presentEvents(app, items) }
  },
})
