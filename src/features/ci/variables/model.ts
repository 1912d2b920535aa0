import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const VARIABLE_TYPES = ['env_var', 'file'] as const
export type VariableType = (typeof VARIABLE_TYPES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    ci_variables: {
      id: Generated<number>
      /** The project or the group of the variable. Without either, the variable belongs to the instance. */
      project_id: number | null
      group_id: number | null
      key: string
      value_sealed: string
      variable_type: VariableType
      protected: boolean
      masked: boolean
      hidden: boolean
      raw: boolean
      environment_scope: string
      description: string | null
    }
  }
}

export type CiVariable = Row<'ci_variables'>
