import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Of every name that a project ever had as a topic, in any case. */
    topics: {
      id: Generated<number>
      name: string
      title: string | null
      description: string | null
      /** Described by an administrator, and so shown whether or not a project has it. */
      curated: Generated<boolean>
      avatar_digest: Generated<string | null>
      avatar_filename: Generated<string | null>
      avatar_type: Generated<string | null>
      created_at: string
    }
  }
}

export type Topic = Row<'topics'>
