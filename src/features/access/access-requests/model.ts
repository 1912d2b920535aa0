import type { Generated } from 'kysely'
import type { SourceColumns } from '../members/model.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    access_requests: SourceColumns & { id: Generated<number>; user_id: number; requested_at: string }
  }
  interface Events {
    'access_request.made': RequestEvent
    'access_request.denied': RequestEvent & { by: number }
    'access_request.withdrawn': RequestEvent
  }
}

interface RequestEvent {
  group_id: number | null
  project_id: number | null
  user_id: number
  requested_at: string
}
