import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    ci_variables: {
      id: Generated<number>
      /** Of a project, of a group, or, with neither, of the instance. */
      project_id: number | null
      group_id: number | null
      key: string
      value_sealed: string
      variable_type: 'env_var' | 'file'
      protected: boolean
      masked: boolean
      hidden: boolean
      raw: boolean
      environment_scope: string
      description: string | null
    }
  }
}
