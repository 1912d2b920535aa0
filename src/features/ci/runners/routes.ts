import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { entity, id, oneOf, text, timestampOut } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { badParameter, conflict, forbidden, notFound } from '../../../errors.ts'
import { Master, Owner } from '../../../lib/levels.ts'
import { findGroupById, group, loadGroupSubject } from '../../groups/groups/queries.ts'
import { findProjectById, loadProjectSubject, project } from '../../projects/projects/queries.ts'
import { resetRunnersToken } from '../../projects/projects/runners-token.ts'
import { RunnerJobEntity, presentRunnerJob } from '../jobs/entity.ts'
import { listRunnerJobs } from '../jobs/lists.ts'
import { runnerFields } from '../runner-protocol/input.ts'
import { ManagerEntity, RunnerDetailsEntity, RunnerEntity, presentManager, presentRunner } from './entity.ts'
import { RUNNER_TYPES, type Runner } from './model.ts'
import {
  filterInput,
  findRunner,
  hasSeveralProjects,
  inspecting,
  isManaged,
  listManagersOf,
  listRunners,
  managing,
  projectPathsOf,
  presentDetailsFor,
  viewing,
} from './queries.ts'
import { resetRegistrationToken } from './registration.ts'
import {
  MADE_PREFIX,
  createRunner,
  deleteRunner,
  disableRunner,
  enableRunner,
  resetRunnerToken,
  updateRunner,
  type RunnerScope,
} from './service.ts'

const ITEM = '/runners/:runner_id'

const presentAll = (app: App, items: readonly Runner[]) => items.map((one) => presentRunner(one, timestamp(app.clock)))

export const list = endpoint({
  method: 'GET',
  path: '/runners',
  summary: 'List the runners of projects one maintains',
  allow: 'signed_in',
  input: filterInput,
  output: pageOf(RunnerEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listRunners(app, { ofUser: viewer.id }, input, page)
    return { total, items: presentAll(app, items) }
  },
})

export const listAll = endpoint({
  method: 'GET',
  path: '/runners/all',
  summary: 'List all runners',
  ...administratorsFirst,
  input: filterInput,
  output: pageOf(RunnerEntity),
  async handle({ app, input, page }) {
    const { items, total } = await listRunners(app, { all: true }, input, page)
    return { total, items: presentAll(app, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a runner',
  ...viewing,
  output: RunnerDetailsEntity,
  async handle({ app, viewer, subject }) {
    return presentDetailsFor(app, subject.runner, viewer)
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update a runner',
  ...managing,
  input: z.object(runnerFields),
  output: RunnerDetailsEntity,
  async handle({ app, viewer, subject, input }) {
    if (Object.values(input).every((value) => value === undefined)) {
      const names = Object.keys(runnerFields).join(', ')
      throw badParameter(`${names} are missing, at least one parameter must be provided`)
    }
    return presentDetailsFor(app, await updateRunner(app, subject.runner, input), viewer)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a runner',
  ...managing,
  alsoAsks: ['administer the instance, for a runner of several projects'],
  output: null,
  changedAt: ({ runner }) => runner.updated_at,
  async handle({ app, viewer, subject }) {
    if (!viewer.admin && subject.runner.runner_type === 'project_type') {
      if (await hasSeveralProjects(app.db, subject.runner.id))
        throw forbidden('Runner associated with more than one project')
    }
    if (!(await deleteRunner(app, subject.runner))) throw notFound('Runner')
  },
})

export const listJobs = endpoint({
  method: 'GET',
  path: `${ITEM}/jobs`,
  summary: 'List the jobs that a runner has run',
  ...inspecting,
  input: z.object({
    status: oneOf('running', 'success', 'failed', 'canceled').nullish(),
    order_by: oneOf('id').nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    system_id: text.nullish(),
  }),
  output: pageOf(RunnerJobEntity),
  async handle({ app, viewer, subject, input, page }) {
    const filter = {
      runner: subject.runner.id,
      ...(!viewer.admin && { viewer: viewer.id }),
      ...(input.status && { status: input.status }),
      ...(input.system_id && { system_id: input.system_id }),
    }
    const { items, total } = await listRunnerJobs(app, filter, page, input.sort)
    const paths = await projectPathsOf(app, items)
    return {
      total,
      items: items.flatMap((job) => {
        const project = paths.get(job.project_id)
        if (!project) return [] // the project was deleted meanwhile
        return presentRunnerJob(job, project)
      }),
    }
  },
})

export const listManagers = endpoint({
  method: 'GET',
  path: `${ITEM}/managers`,
  summary: 'List the managers of a runner',
  ...inspecting,
  output: pageOf(ManagerEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listManagersOf(app.db, subject.runner.id, page)
    return { total, items: items.map((one) => presentManager(one, timestamp(app.clock))) }
  },
})

const TokenEntity = entity({ token: z.string(), token_expires_at: timestampOut.nullable() }).meta({
  id: 'NewRunnerToken',
})

export const resetToken = endpoint({
  method: 'POST',
  path: `${ITEM}/reset_authentication_token`,
  summary: 'Reset the token of a runner',
  ...managing,
  output: TokenEntity,
  async handle({ app, subject }) {
    return resetRunnerToken(app, subject.runner)
  },
})

const NewRunnerEntity = entity({
  id: z.int(),
  token: z.string(),
  token_expires_at: timestampOut.nullable(),
}).meta({ id: 'NewRunner' })

export const create = endpoint({
  method: 'POST',
  path: '/user/runners',
  summary: 'Create a runner',
  allow: 'signed_in',
  alsoAsks: ['maintain the project, own the group or administer the instance of the runner'],
  input: z.object({
    runner_type: z.enum(RUNNER_TYPES),
    project_id: id.nullish(),
    group_id: id.nullish(),
    ...runnerFields,
  }),
  output: NewRunnerEntity,
  async handle({ app, viewer, input }) {
    const { runner_type, project_id, group_id, ...request } = input
    const scope = await scopeFor(app, viewer, { runner_type, project_id, group_id })
    const made = await createRunner(app, scope, request, { creator_id: viewer.id, prefix: MADE_PREFIX })
    return { id: made.runner.id, token: made.token, token_expires_at: null }
  },
})

interface Filter {
  readonly runner_type: (typeof RUNNER_TYPES)[number]
  readonly project_id?: number | null | undefined
  readonly group_id?: number | null | undefined
}

async function scopeFor(app: App, viewer: User, { runner_type, project_id, group_id }: Filter): Promise<RunnerScope> {
  if (runner_type === 'instance_type') {
    if (!viewer.admin) throw forbidden()
    return { runner_type }
  }
  if (runner_type === 'project_type') {
    if (!project_id) throw badParameter('project_id is missing')
    const found = await findProjectById(app.db, project_id)
    if (!found || (await loadProjectSubject(app, found, viewer)).level < Master) throw forbidden()
    return { runner_type, project_id }
  }
  if (!group_id) throw badParameter('group_id is missing')
  const found = await findGroupById(app.db, group_id)
  if (!found || (await loadGroupSubject(app, found, viewer)).level < Owner) throw forbidden()
  return { runner_type, group_id }
}

const RegistrationEntity = entity({ token: z.string(), token_expires_at: z.null() }).meta({ id: 'RegistrationToken' })
const registered = (token: string) => ({ token, token_expires_at: null })

export const resetInstanceRegistration = endpoint({
  method: 'POST',
  path: '/runners/reset_registration_token',
  summary: 'Reset the runner registration token of the instance',
  ...administratorsFirst,
  output: RegistrationEntity,
  handle: async ({ app }) => registered(await resetRegistrationToken(app, null)),
})

export const resetGroupRegistration = endpoint({
  method: 'POST',
  path: '/groups/:id/runners/reset_registration_token',
  summary: 'Reset the runner registration token of a group',
  on: group,
  allow: 'own',
  output: RegistrationEntity,
  handle: async ({ app, subject }) => registered(await resetRegistrationToken(app, subject.group.id)),
})

export const resetProjectRegistration = endpoint({
  method: 'POST',
  path: '/projects/:id/runners/reset_registration_token',
  summary: 'Reset the runner registration token of a project',
  on: project,
  allow: 'administer',
  whileReadOnly: true,
  output: RegistrationEntity,
  handle: async ({ app, subject }) => registered(await resetRunnersToken(app, subject.project)),
})

export const listOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/runners',
  summary: 'List the runners that a project can use',
  on: project,
  allow: 'administer',
  input: filterInput,
  output: pageOf(RunnerEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listRunners(app, { project: subject.project }, input, page)
    return { total, items: presentAll(app, items) }
  },
})

export const listOfGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/runners',
  summary: 'List the runners of a group',
  on: group,
  allow: 'own',
  input: filterInput,
  output: pageOf(RunnerEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listRunners(app, { group: subject.group.id }, input, page)
    return { total, items: presentAll(app, items) }
  },
})

export const enable = endpoint({
  method: 'POST',
  path: '/projects/:id/runners',
  summary: 'Assign a runner to a project',
  on: project,
  allow: 'administer',
  alsoAsks: ['manage the runner, which is neither shared nor locked'],
  input: z.object({ runner_id: id }),
  output: RunnerEntity,
  async handle({ app, viewer, subject, input }) {
    const one = await findRunner(app, input.runner_id)
    if (!one) throw notFound('Runner')
    if (one.runner_type === 'instance_type') throw forbidden('Runner is shared')
    if (one.runner_type === 'group_type') throw forbidden('Runner is a group runner')
    if (one.locked) throw forbidden('Runner is locked')
    if (!(await isManaged(app, one, viewer))) throw forbidden('No access granted')
    if (!(await enableRunner(app, one, subject.project.id)))
      throw conflict('Runner was already enabled for this project')
    return presentRunner(one, timestamp(app.clock))
  },
})

export const disable = endpoint({
  method: 'DELETE',
  path: '/projects/:id/runners/:runner_id',
  summary: 'Unassign a runner from a project',
  on: project,
  allow: 'administer',
  input: z.object({ runner_id: id }),
  output: null,
  async handle({ app, subject, input }) {
    const one = await findRunner(app, input.runner_id)
    if (one?.runner_type !== 'project_type') throw notFound('Runner')
    if (!(await disableRunner(app, one, subject.project.id))) throw notFound('Runner')
  },
})
