import type { Generated } from 'kysely'
import type { ItemColumns } from '../items/kind.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Subscriptions of users to an issue, a merge request or a label, and explicit refusals. */
    subscriptions: {
      id: Generated<number>
      user_id: number
      issue_id: number | null
      merge_request_id: number | null
      label_id: number | null
      /** The project where the label is subscribed to. Null: in the whole group. */
      project_id: number | null
      subscribed: boolean
      created_at: string
    }
  }
}

export type SubscriptionTarget = ItemColumns | { readonly label_id: number; readonly project_id?: number | null }
