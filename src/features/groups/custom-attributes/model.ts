import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Custom attributes that administrators set on users, groups and projects; exactly one of the three ids is set. */
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
