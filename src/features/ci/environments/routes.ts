import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, entity, int, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { after, DAY } from '../../../clock.ts'
import { badParameter } from '../../../errors.ts'
import { BriefEnvironmentEntity, EnvironmentEntity, ListedEnvironmentEntity, presentBrief } from './entity.ts'
import { STATES, TIERS } from './model.ts'
import {
  deployedProject,
  environment,
  listEnvironments,
  presentEnvironments,
  presentOneEnvironment,
} from './queries.ts'
import { createEnvironment, deleteEnvironment, deleteReviewApps, updateEnvironment } from './service.ts'
import { stopEnvironment, stopStale } from './stopping.ts'

const PATH = '/projects/:id/environments'
const ITEM = `${PATH}/:environment_id` as const
const SHORTEST_SEARCH = 3

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the environments of a project',
  on: deployedProject,
  allow: 'readEnvironments',
  by: ['user', 'job'],
  input: z.object({ name: text.nullish(), search: text.nullish(), states: oneOf(...STATES).nullish() }),
  output: pageOf(ListedEnvironmentEntity),
  async handle({ app, subject, input, page }) {
    if (input.name && input.search) throw badParameter('name, search are mutually exclusive')
    if (input.search && input.search.length < SHORTEST_SEARCH) {
      throw badParameter('Search query is less than 3 characters')
    }
    const { items, total } = await listEnvironments(app.db, subject.project.id, input, page)
    return { total, items: await presentEnvironments(app, subject, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get an environment',
  on: environment,
  allow: 'readEnvironments',
  by: ['user', 'job'],
  output: EnvironmentEntity,
  handle: ({ app, subject }) => presentOneEnvironment(app, subject, subject.environment),
})

const attributes = {
  external_url: blankable(text),
  description: blankable(longText),
  tier: oneOf(...TIERS).nullish(),
  slug: text.nullish(),
}

function assertNoSlug({ slug }: { slug?: string | null | undefined }): void {
  if (slug) throw badParameter('slug is automatically generated and cannot be changed')
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create an environment',
  on: deployedProject,
  allow: 'run',
  by: ['user', 'job'],
  input: z.object({ name: text, ...attributes }),
  output: EnvironmentEntity,
  async handle({ app, subject, input }) {
    assertNoSlug(input)
    return presentOneEnvironment(app, subject, await createEnvironment(app, subject.project.id, input))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update an environment',
  on: environment,
  allow: 'manageEnvironments',
  by: ['user', 'job'],
  input: z.object({ name: text.optional(), ...attributes }),
  output: EnvironmentEntity,
  async handle({ app, subject, input }) {
    assertNoSlug(input)
    return presentOneEnvironment(app, subject, await updateEnvironment(app, subject.environment, input))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete an environment that is stopped',
  on: environment,
  allow: 'manageEnvironments',
  by: ['user', 'job'],
  changedAt: ({ environment }) => environment.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteEnvironment(app, subject.environment),
})

export const stop = endpoint({
  method: 'POST',
  path: `${ITEM}/stop`,
  summary: 'Stop an environment',
  on: environment,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag of the job that stops it'],
  by: ['user', 'job'],
  status: 200,
  input: z.object({ force: bool.nullish() }),
  output: EnvironmentEntity,
  async handle({ app, subject, input }) {
    const stopped = await stopEnvironment(app, subject, subject.environment, { force: input.force ?? false })
    return presentOneEnvironment(app, subject, stopped)
  },
})

const [NEWEST_STALE, OLDEST_STALE] = [7 * DAY, 10 * 365 * DAY]

export const stopOld = endpoint({
  method: 'POST',
  path: `${PATH}/stop_stale`,
  summary: 'Stop stale environments',
  on: deployedProject,
  allow: 'manageEnvironments',
  by: ['user', 'job'],
  status: 200,
  input: z.object({ before: moment }),
  output: entity({ message: z.string() }),
  async handle({ app, subject, input: { before } }) {
    if (before > after(app.clock, -NEWEST_STALE) || before < after(app.clock, -OLDEST_STALE)) {
      throw badParameter('Invalid Date')
    }
    await stopStale(app, subject, before)
    return { message: 'Successfully requested stop for all stale environments' }
  },
})

const MOST_AT_ONCE = 1000

export const destroyReviewApps = endpoint({
  method: 'DELETE',
  path: `${PATH}/review_apps`,
  summary: 'Delete environments of reviews that have been stopped for long',
  on: deployedProject,
  allow: 'manageEnvironments',
  by: ['user', 'job'],
  status: 200,
  input: z.object({
    before: blankable(moment),
    limit: int.pipe(z.int().min(1).max(MOST_AT_ONCE)).nullish(),
    dry_run: bool.nullish(),
  }),
  output: entity({
    scheduled_entries: z.array(BriefEnvironmentEntity),
    unprocessable_entries: z.array(BriefEnvironmentEntity),
  }),
  async handle({ app, subject, input: { before, limit, dry_run } }) {
    const request = { before: before ?? null, limit: limit ?? 100, dry_run: dry_run ?? true }
    const found = await deleteReviewApps(app, subject.project.id, request)
    return { scheduled_entries: found.map(presentBrief), unprocessable_entries: [] }
  },
})
