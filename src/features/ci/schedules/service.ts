import { z } from 'zod'
import { assertRules, faultsIn, filled } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { assertBelowLimit, forbidden, invalid, notFound, taken, type FieldErrors } from '../../../errors.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { parseRefName } from '../pipelines/refs.ts'
import { mayRunOn } from '../pipelines/rights.ts'
import { plainVariableRules } from '../variables/validation.ts'
import { isTimeZone, nextTime } from './cron.ts'
import { inputsOf, type Schedule, type ScheduleInputs, type ScheduleVariable } from './model.ts'
import type { ScheduleSubject } from './policy.ts'
import { runSchedule } from './run.ts'

const lineRule = filled(z.string(), 255)
const MOST_VARIABLES = 100
const MOST_INPUTS = 100
const LONGEST_INPUTS = 64 * 1024

export interface ScheduleInput {
  description?: string | undefined
  ref?: string | undefined
  cron?: string | undefined
  cron_timezone?: string | null | undefined
  active?: boolean | null | undefined
  inputs?: readonly ScheduledInput[] | null | undefined
}

export interface ScheduledInput {
  readonly name: string
  readonly value?: unknown
  readonly destroy?: boolean | null | undefined
}

type Written = Pick<Schedule, 'description' | 'ref' | 'cron' | 'cron_timezone' | 'active'>

/** Validates the fields and returns the time of the next run. */
function assertValid({ clock }: App, { description, ref, cron, cron_timezone: zone }: Written): string {
  const isZone = isTimeZone(zone)
  const next = nextTime(cron, isZone ? zone : 'UTC', clock.now())
  const faults: FieldErrors = {
    description: faultsIn(lineRule, description),
    ref: parseRefName(ref) ? faultsIn(lineRule, ref) : ['is invalid'],
    cron: next ? [] : [' is invalid syntax'],
    cron_timezone: isZone ? [] : [' is invalid syntax'],
  }
  const found = Object.entries(faults).filter(([, messages]) => (messages as string[]).length > 0)
  if (found.length > 0 || !next) throw invalid(Object.fromEntries(found))
  return next.toISOString()
}

export async function createSchedule(
  app: App,
  actor: User,
  project_id: number,
  input: ScheduleInput & { description: string; ref: string; cron: string },
): Promise<Schedule> {
  const now = timestamp(app.clock)
  const { description, ref, cron } = input
  const row = { description, ref, cron, cron_timezone: input.cron_timezone ?? 'UTC', active: input.active ?? true }
  const next_run_at = assertValid(app, row)
  const inputs = changedInputs({}, input.inputs ?? [])
  return transact(app, async (app) => {
    await lockName(app.db, `schedules of project ${project_id}`)
    await assertScheduleAllowed(app, project_id)
    return app.db
      .insertInto('pipeline_schedules')
      .values({ ...row, inputs, project_id, owner_id: actor.id, next_run_at, created_at: now, updated_at: now })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** As JSON, or null if none is left. The configuration validates the inputs when the schedule runs. */
function changedInputs(known: ScheduleInputs, requests: readonly ScheduledInput[]): string | null {
  const inputs = new Map(Object.entries(known))
  for (const { name, value, destroy } of requests) {
    if (destroy) inputs.delete(name)
    else if (value === undefined || value === null) throw invalid({ inputs: [`value ${BLANK}`] })
    else inputs.set(name, value)
  }
  const text = JSON.stringify(Object.fromEntries(inputs))
  if (inputs.size > MOST_INPUTS) throw invalid({ inputs: [`exceed the limit of ${MOST_INPUTS}.`] })
  if (text.length > LONGEST_INPUTS) throw invalid({ inputs: ['are too long'] })
  return inputs.size === 0 ? null : text
}

async function assertScheduleAllowed(app: App, project: number): Promise<void> {
  const { ci_pipeline_schedules: most } = await loadLimits(app.db)
  const { total } = await app.db
    .selectFrom('pipeline_schedules')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  assertBelowLimit(Number(total), most, 'pipeline schedules')
}

const MISSING = 'Pipeline Schedule'

async function change(app: App, { id }: Schedule, changes: Partial<Schedule>): Promise<Schedule> {
  const updated = await app.db
    .updateTable('pipeline_schedules')
    .set({ ...changes, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound(MISSING) // a concurrent request deleted the row
  return updated
}

export async function updateSchedule(app: App, schedule: Schedule, input: ScheduleInput): Promise<Schedule> {
  const row = {
    description: input.description ?? schedule.description,
    ref: input.ref ?? schedule.ref,
    cron: input.cron ?? schedule.cron,
    cron_timezone: input.cron_timezone ?? schedule.cron_timezone,
    active: input.active ?? schedule.active,
  }
  const next_run_at = assertValid(app, row)
  if (!input.inputs) return change(app, schedule, { ...row, next_run_at })
  return change(app, schedule, { ...row, next_run_at, inputs: changedInputs(inputsOf(schedule), input.inputs) })
}

export const ownSchedule = (app: App, actor: User, schedule: Schedule): Promise<Schedule> =>
  change(app, schedule, { owner_id: actor.id })

export async function deleteSchedule(app: App, { id }: Schedule): Promise<void> {
  const { numDeletedRows } = await app.db.deleteFrom('pipeline_schedules').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound(MISSING) // a concurrent request deleted the row
}

/** Runs the schedule now, as the caller. */
export async function playSchedule(app: App, actor: User, subject: ScheduleSubject): Promise<Pipeline> {
  const { project, schedule } = subject
  const { ref, tag = false } = parseRefName(schedule.ref) ?? { ref: schedule.ref }
  if (!(await mayRunOn(app, subject, { ref, tag }))) throw forbidden()
  const { pipeline, errors } = await runSchedule(app, project, schedule, actor)
  if (!pipeline) throw invalid({ base: [...errors] })
  return pipeline
}

export interface ScheduleVariableInput {
  value?: string | undefined
  variable_type?: 'env_var' | 'file' | null | undefined
  raw?: boolean | null | undefined
}

export async function createScheduleVariable(
  app: App,
  { id: schedule_id }: Schedule,
  input: ScheduleVariableInput & { key: string; value: string },
): Promise<ScheduleVariable> {
  const { key, value } = input
  assertRules(plainVariableRules, { key, value })
  return transact(app, async (app) => {
    await lockName(app.db, `variables of schedule ${schedule_id}`)
    const known = await app.db
      .selectFrom('pipeline_schedule_variables')
      .select('key')
      .where('schedule_id', '=', schedule_id)
      .execute()
    if (known.some((one) => one.key === key)) throw taken('key')
    assertBelowLimit(known.length, MOST_VARIABLES, 'variables')
    return app.db
      .insertInto('pipeline_schedule_variables')
      .values({
        schedule_id,
        key,
        value_sealed: app.vault.seal(value),
        variable_type: input.variable_type ?? 'env_var',
        raw: input.raw ?? false,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

export async function updateScheduleVariable(
  app: App,
  variable: ScheduleVariable,
  { value, variable_type, raw }: ScheduleVariableInput,
): Promise<ScheduleVariable> {
  if (value !== undefined) assertRules(plainVariableRules, { key: variable.key, value })
  const updated = await app.db
    .updateTable('pipeline_schedule_variables')
    .set({
      value_sealed: value === undefined ? variable.value_sealed : app.vault.seal(value),
      variable_type: variable_type ?? variable.variable_type,
      raw: raw ?? variable.raw,
    })
    .where('id', '=', variable.id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound('Pipeline Schedule Variable') // a concurrent request deleted the row
  return updated
}

export async function deleteScheduleVariable(app: App, { id }: ScheduleVariable): Promise<void> {
  const gone = await app.db.deleteFrom('pipeline_schedule_variables').where('id', '=', id).executeTakeFirst()
  if (gone.numDeletedRows === 0n) throw notFound('Pipeline Schedule Variable') // a concurrent request deleted the row
}
