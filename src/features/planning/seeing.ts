/**
 * Visibility of a project and its features for a viewer, as SQL conditions: `p` is the row of `projects`, `t` the
 * viewer's row of `project_authorizations`.
 */
import { sql, type RawBuilder } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest } from '../../lib/levels.ts'
import type { Feature } from '../projects/projects/policy.ts'

/** Whether internal projects are open to the viewer. */
export interface SeenFrom {
  readonly internalToo: boolean
}

export const LEVEL = sql<number>`coalesce(t.access_level, 0)`

export const isOn = (feature: Feature): RawBuilder<boolean> => {
  const column = sql.ref(`p.${feature}_access_level`)
  return sql`(${column} = ${sql.lit(FeatureEnabled)}
    or (${column} <> ${sql.lit(FeatureDisabled)} and ${LEVEL} >= ${sql.lit(Guest)}))`
}

export const isOpen = ({ internalToo }: SeenFrom): RawBuilder<boolean> =>
  sql`p.visibility in (${sql.raw(internalToo ? `'public', 'internal'` : `'public'`)})`

export const isReadable = (from: SeenFrom): RawBuilder<boolean> =>
  sql`(${LEVEL} >= ${sql.lit(Guest)} or ${isOpen(from)})`
