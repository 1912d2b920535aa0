import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    features: {
      id: Generated<number>
      name: string
      enabled: boolean
      percentage_of_time: number
      percentage_of_actors: number
      /** Separated by commas. */
      groups: string
      actors: string
    }
  }
}

export type Feature = Row<'features'>
