/** What queries about labels depend on of their viewer. */
import { sql, type RawBuilder } from 'kysely'
import type { User } from '../../../context.ts'
import type { IsGiven } from '../../../store/hot.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'

export interface ViewerValues {
  /** 0 for anonymous visitors. */
  viewer: number
  admin: 1 | null
  /** Internal projects are open to the viewer. */
  internal: 1 | null
}

export const viewerValues = (viewer: User | null): ViewerValues => ({
  viewer: viewer?.id ?? 0,
  admin: viewer?.admin ? 1 : null,
  internal: openVisibilities(viewer).includes('internal') ? 1 : null,
})

/** The visibilities that are open to the viewer. */
export const openTo = (given: IsGiven<ViewerValues>): RawBuilder<unknown> =>
  given('internal') ? sql`'public', 'internal'` : sql`'public'`
