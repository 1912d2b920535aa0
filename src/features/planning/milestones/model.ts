import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Belongs to a project or to a group, never both. */
    milestones: {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      iid: number
      title: string
      description: string | null
      state: Generated<'active' | 'closed'>
      start_date: string | null
      due_date: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
  }
  interface Events {
    'milestone.created': { id: number; project_id: number | null; group_id: number | null; by: number }
    'milestone.updated': { id: number; project_id: number | null; group_id: number | null; by: number }
    'milestone.closed': { id: number; project_id: number | null; group_id: number | null; by: number }
    'milestone.activated': { id: number; project_id: number | null; group_id: number | null; by: number }
    'milestone.restored': { id: number; project_id: number | null; group_id: number | null }
    'milestone.deleted': { id: number; project_id: number | null; group_id: number | null; title: string; by: number }
  }
}

export type Milestone = Row<'milestones'>
