import type { Generated } from 'kysely'

/** What people belong to: exactly one of the two is given. */
export interface SourceColumns {
  group_id: number | null
  project_id: number | null
}

declare module '../../../store/database.ts' {
  interface Tables {
    members: SourceColumns & {
      id: Generated<number>
      user_id: number
      access_level: number
      expires_at: string | null
      /** Given by a directory link, and taken again with it. */
      from_directory: Generated<boolean>
      /** What people had given, while a directory link gives more. */
      hand_level: number | null
      created_by_id: number | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    'member.added': MemberEvent
    'member.changed': MemberEvent
    'member.removed': MemberEvent & { expired: boolean }
  }
}

interface MemberEvent {
  group_id: number | null
  project_id: number | null
  user_id: number
  access_level: number
  /** As the row says, or said. */
  expires_at: string | null
  created_at: string
  updated_at: string
  /** Absent where nobody in particular did it. */
  by?: number
}
