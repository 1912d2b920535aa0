import type { Generated } from 'kysely'
import type { SourceColumns } from '../members/model.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    access_requests: SourceColumns & { id: Generated<number>; user_id: number; requested_at: string }
  }
  interface Events {
    'access_request.made': RequestNews
    'access_request.denied': RequestNews & { by: number }
    'access_request.withdrawn': RequestNews
  }
}

interface RequestNews {
  group_id: number | null
  project_id: number | null
  user_id: number
  requested_at: string
}
