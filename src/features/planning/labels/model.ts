import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Belongs to a project or to a group, never both. */
    labels: {
      id: Generated<number>
      project_id: number | null
      group_id: number | null
      title: string
      /** `#RRGGBB`. */
      color: string
      description: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    /** A group label may have a priority in each project. */
    label_priorities: { project_id: number; label_id: number; priority: number }
    /**
     * The number of issues per label and project, maintained by triggers. On PostgreSQL one kind may have several rows.
     */
    issue_labels_facets: {
      label_id: number
      project_id: number
      state: 'opened' | 'closed'
      confidential: boolean
      total: number
    }
    /** The same for open merge requests. */
    merge_request_labels_facets: { label_id: number; project_id: number; total: number }
  }
  interface Events {
    'label.created': { id: number; project_id: number | null; group_id: number | null; by: number }
    'label.updated': { id: number; project_id: number | null; group_id: number | null; by: number }
    'label.restored': { id: number; project_id: number | null; group_id: number | null }
    'label.deleted': { id: number; project_id: number | null; group_id: number | null; title: string; by: number }
  }
}

export type Label = Row<'labels'>
