import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** A message for one receiver: a hook, or a service. */
    hook_deliveries: {
      id: Generated<number>
      message_id: number
      hook_id: number | null
      service_id: number | null
      state: 'waiting' | 'done' | 'given_up'
      attempts: number
      /** Not before. */
      due_at: string
      created_at: string
    }
    /** One for each receiver that something waits for, or that was troubled of late; whoever holds the lease sends. */
    delivery_lanes: {
      id: Generated<number>
      hook_id: number | null
      service_id: number | null
      due_at: string
      lease_until: string | null
      /** The process that holds the lease. */
      lease_holder: Generated<string | null>
      /** The last one failed or took long: only some may be served at once. */
      troubled: boolean
      /** Whose hook or service it is: no person's receivers take all the places. */
      owner_id: Generated<number | null>
    }
    hook_attempts: {
      id: Generated<number>
      hook_id: number
      /** Null for tests. */
      message_id: number | null
      /** The switch, or the kind of a message that has none. */
      trigger: string
      url: string
      request_headers: string
      /** Null where it is the message's body. */
      request_data: string | null
      /** Null where nothing came back. */
      response_status: number | null
      response_headers: string
      response_body: string
      /** Seconds. */
      execution_duration: number
      error: string | null
      created_at: string
    }
    /** Past events that are to be sent to a hook once more; gone when all of them wait for it. */
    hook_replays: {
      id: Generated<number>
      hook_id: number
      /** JSON: those still to come, in their order. */
      event_ids: string
      created_at: string
    }
  }
}

export type Delivery = Row<'hook_deliveries'>
export type DeliveryQueue = Row<'delivery_lanes'>
export type Attempt = Row<'hook_attempts'>
