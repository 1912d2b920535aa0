import type { Generated } from 'kysely'

/** The group or project of a membership: exactly one of the two ids is set. */
export interface SourceColumns {
  group_id: number | null
  project_id: number | null
}

interface Membership extends SourceColumns {
  user_id: number
  access_level: number
  expires_at: string | null
  /** Granted by a directory link, and removed when the link no longer grants it. */
  from_directory: Generated<boolean>
  /** The level that a person granted, while a directory link grants a higher one. */
  hand_level: number | null
  created_by_id: number | null
  created_at: string
}

declare module '../../../store/database.ts' {
  interface Tables {
    members: Membership & { id: Generated<number>; updated_at: string }
    /** Members whose removal their remover can undo for a while. */
    removed_members: Membership & {
      id: Generated<number>
      removed_by_id: number
      removed_at: string
      restored_at: string | null
    }
  }
  interface Events {
    'member.added': MemberEvent
    'member.changed': MemberEvent
    /** `removal`: the row of the removed member, if the removal can be undone. */
    'member.removed': MemberEvent & { expired: boolean; removal?: number }
    /** The removal was undone. */
    'member.restored': { removal: number; user_id: number }
  }
}

interface MemberEvent {
  group_id: number | null
  project_id: number | null
  user_id: number
  access_level: number
  /** The value in the row, or in the deleted row. */
  expires_at: string | null
  created_at: string
  updated_at: string
  /** Absent if no particular user made the change. */
  by?: number
}
