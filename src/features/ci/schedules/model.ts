import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    pipeline_schedules: {
      id: Generated<number>
      project_id: number
      owner_id: number | null
      description: string
      ref: string
      cron: string
      cron_timezone: string
      active: boolean
      next_run_at: string | null
      /** JSON object by name, or null. */
      inputs: string | null
      created_at: string
      updated_at: string
    }
    pipeline_schedule_variables: {
      id: Generated<number>
      schedule_id: number
      key: string
      value_sealed: string
      variable_type: 'env_var' | 'file'
      raw: boolean
    }
  }
}

export type Schedule = Row<'pipeline_schedules'>
export type ScheduleVariable = Row<'pipeline_schedule_variables'>

export type ScheduleInputs = Readonly<Record<string, unknown>>

export const inputsOf = ({ inputs }: Pick<Schedule, 'inputs'>): ScheduleInputs =>
  inputs === null ? {} : (JSON.parse(inputs) as ScheduleInputs)
