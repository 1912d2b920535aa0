import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { arrayOf, blankable, bool, entity, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { JOB_STATUSES } from '../jobs/model.ts'
import { ListedPipelineEntity } from '../pipelines/entity.ts'
import { presentListedPipelines } from '../pipelines/queries.ts'
import { VARIABLE_TYPES } from '../variables/model.ts'
import { ListedScheduleEntity, ScheduleEntity, ScheduleVariableEntity, presentScheduleVariable } from './entity.ts'
import {
  listPipelinesOf,
  listSchedules,
  presentListedSchedules,
  presentOneSchedule,
  schedule,
  scheduleVariable,
  scheduledProject,
} from './queries.ts'
import {
  createSchedule,
  createScheduleVariable,
  deleteSchedule,
  deleteScheduleVariable,
  ownSchedule,
  playSchedule,
  updateSchedule,
  updateScheduleVariable,
} from './service.ts'

const inputName = z.string().min(1).max(255)

const PATH = '/projects/:id/pipeline_schedules'
const ITEM = `${PATH}/:pipeline_schedule_id` as const

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the pipeline schedules of a project',
  on: scheduledProject,
  allow: 'readSchedules',
  input: z.object({ scope: oneOf('active', 'inactive').nullish() }),
  output: pageOf(ListedScheduleEntity),
  async handle({ app, subject, input: { scope }, page }) {
    const active = scope ? scope === 'active' : null
    const { items, total } = await listSchedules(app.db, subject.project.id, { active }, page)
    return { total, items: await presentListedSchedules(app, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a pipeline schedule',
  on: schedule,
  allow: 'readSchedules',
  secret: true,
  output: ScheduleEntity,
  handle: ({ app, subject }) => presentOneSchedule(app, subject),
})

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a pipeline schedule',
  on: scheduledProject,
  allow: 'run',
  input: z.object({
    description: text,
    ref: text,
    cron: text,
    cron_timezone: text.nullish(),
    active: bool.nullish(),
    inputs: arrayOf(z.object({ name: inputName, value: z.unknown() })).nullish(),
  }),
  output: ScheduleEntity,
  async handle({ app, viewer, subject, input }) {
    const made = await createSchedule(app, viewer, subject.project.id, input)
    return presentOneSchedule(app, { ...subject, schedule: made })
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update a pipeline schedule',
  on: schedule,
  allow: 'update',
  input: z.object({
    description: text.optional(),
    ref: text.optional(),
    cron: text.optional(),
    cron_timezone: text.nullish(),
    active: bool.nullish(),
    inputs: arrayOf(z.object({ name: inputName, value: z.unknown().optional(), destroy: bool.nullish() })).nullish(),
  }),
  output: ScheduleEntity,
  async handle({ app, subject, input }) {
    return presentOneSchedule(app, { ...subject, schedule: await updateSchedule(app, subject.schedule, input) })
  },
})

export const own = endpoint({
  method: 'POST',
  path: `${ITEM}/take_ownership`,
  summary: 'Take ownership of a pipeline schedule',
  on: schedule,
  allow: 'takeOver',
  output: ScheduleEntity,
  async handle({ app, viewer, subject }) {
    return presentOneSchedule(app, { ...subject, schedule: await ownSchedule(app, viewer, subject.schedule) })
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a pipeline schedule',
  on: schedule,
  allow: 'update',
  changedAt: ({ schedule }) => schedule.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteSchedule(app, subject.schedule),
})

export const play = endpoint({
  method: 'POST',
  path: `${ITEM}/play`,
  summary: 'Run a pipeline schedule now',
  on: schedule,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  limiter: 'git',
  output: entity({ message: z.string() }),
  async handle({ app, viewer, subject }) {
    await playSchedule(app, viewer, subject)
    return { message: '201 Created' }
  },
})

export const pipelines = endpoint({
  method: 'GET',
  path: `${ITEM}/pipelines`,
  summary: 'List the pipelines that a schedule has made',
  on: schedule,
  allow: 'readSchedules',
  input: z.object({
    scope: oneOf('running', 'pending', 'finished').nullish(),
    status: oneOf(...JOB_STATUSES).nullish(),
    updated_before: blankable(moment),
    updated_after: blankable(moment),
    created_before: blankable(moment),
    created_after: blankable(moment),
    sort: oneOf('asc', 'desc').nullish(),
  }),
  output: pageOf(ListedPipelineEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listPipelinesOf(app.db, subject.schedule.id, input, page)
    return { total, items: presentListedPipelines(app, subject, items) }
  },
})

const attributes = { variable_type: oneOf(...VARIABLE_TYPES).nullish(), raw: bool.nullish() }

export const createVariable = endpoint({
  method: 'POST',
  path: `${ITEM}/variables`,
  summary: 'Create a variable of a pipeline schedule',
  on: schedule,
  allow: 'update',
  input: z.object({ key: text, value: longText, ...attributes }),
  output: ScheduleVariableEntity,
  async handle({ app, subject, input }) {
    return presentScheduleVariable(app, await createScheduleVariable(app, subject.schedule, input))
  },
})

export const updateVariable = endpoint({
  method: 'PUT',
  path: `${ITEM}/variables/:key`,
  summary: 'Update a variable of a pipeline schedule',
  on: scheduleVariable,
  allow: 'update',
  input: z.object({ value: longText.optional(), ...attributes }),
  output: ScheduleVariableEntity,
  async handle({ app, subject, input }) {
    return presentScheduleVariable(app, await updateScheduleVariable(app, subject.variable, input))
  },
})

export const destroyVariable = endpoint({
  method: 'DELETE',
  path: `${ITEM}/variables/:key`,
  summary: 'Delete a variable of a pipeline schedule',
  on: scheduleVariable,
  allow: 'update',
  status: 202,
  output: ScheduleVariableEntity,
  async handle({ app, subject }) {
    await deleteScheduleVariable(app, subject.variable)
    return presentScheduleVariable(app, subject.variable)
  },
})
