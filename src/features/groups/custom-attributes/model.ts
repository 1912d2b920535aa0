import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** What administrators note of users, groups and projects: of one of the three. */
    custom_attributes: {
      id: Generated<number>
      user_id: number | null
      group_id: number | null
      project_id: number | null
      key: string
      value: string
    }
  }
}
