import type { Generated } from 'kysely'

/** One changed field. A secret field has neither the old nor the new value. */
export interface Change {
  readonly change: string
  readonly from?: unknown
  readonly to?: unknown
}

export interface Details {
  readonly custom_message: string
  readonly acting_as?: string
  readonly changes?: readonly Change[]
}

declare module '../../../store/database.ts' {
  interface Tables {
    audit_events: {
      id: Generated<number>
      /** Id and name at the time of the event; there is no reference to a row. */
      author_id: number
      author_name: string
      /** The endpoint: `PUT /users/:id`. */
      kind: string
      entity_type: string
      /** Null if there is only one such record, such as the settings. */
      entity_id: number | null
      entity_path: string | null
      ip_address: string
      /** JSON. */
      details: string
      created_at: string
    }
  }
}
