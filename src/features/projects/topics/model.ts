import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** One row for every name that a project ever had as a topic, ignoring case. */
    topics: {
      id: Generated<number>
      name: string
      title: string | null
      description: string | null
      /** An administrator has described the topic. Such a topic is listed even without projects. */
      curated: Generated<boolean>
      avatar_digest: Generated<string | null>
      avatar_filename: Generated<string | null>
      avatar_type: Generated<string | null>
      created_at: string
    }
  }
}

export type Topic = Row<'topics'>
