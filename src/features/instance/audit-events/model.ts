import type { Generated } from 'kysely'

/** One thing that is another now. What must not be read says neither. */
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
      /** By id and name, as they were: nothing refers to a row. */
      author_id: number
      author_name: string
      /** The endpoint: `PUT /users/:id`. */
      kind: string
      entity_type: string
      /** Null where there is only one, as the settings. */
      entity_id: number | null
      entity_path: string | null
      ip_address: string
      /** JSON. */
      details: string
      created_at: string
    }
  }
}
