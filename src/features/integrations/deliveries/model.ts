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
      /** Send no earlier. */
      due_at: string
      created_at: string
    }
    /**
     * The queue of one receiver. It exists while deliveries are pending or the receiver was recently troubled. The
     * process that holds the lease sends.
     */
    delivery_lanes: {
      id: Generated<number>
      hook_id: number | null
      service_id: number | null
      due_at: string
      lease_until: string | null
      /** The process that holds the lease. */
      lease_holder: Generated<string | null>
      /** The last delivery failed or was slow: the number of troubled queues served at once is limited. */
      troubled: boolean
      /** The owner of the hook or service. The receivers of one owner may take only a share of the slots. */
      owner_id: Generated<number | null>
    }
    hook_attempts: {
      id: Generated<number>
      hook_id: number
      /** Null for tests. */
      message_id: number | null
      /** The event switch of the hook, or the kind of a message that has no switch. */
      trigger: string
      url: string
      request_headers: string
      /** Null: the message's body was sent. */
      request_data: string | null
      /** Null: no response. */
      response_status: number | null
      response_headers: string
      response_body: string
      /** Seconds. */
      execution_duration: number
      error: string | null
      created_at: string
    }
    /** Past events to send to a hook once more. The row is deleted when a delivery exists for each of them. */
    hook_replays: {
      id: Generated<number>
      hook_id: number
      /** JSON: the ids of the events that remain, in order. */
      event_ids: string
      created_at: string
    }
  }
}

export type Delivery = Row<'hook_deliveries'>
export type DeliveryQueue = Row<'delivery_lanes'>
export type Attempt = Row<'hook_attempts'>
