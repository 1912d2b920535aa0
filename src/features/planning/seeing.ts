/**
 * Whether a viewer sees a project of a row, and a feature of it, as conditions on `p`, its `projects`, and `t`, what
 * `project_authorizations` has for them.
 */
import { sql, type RawBuilder } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest } from '../../lib/levels.ts'
import type { Feature } from '../projects/projects/policy.ts'

export const LEVEL = sql<number>`coalesce(t.access_level, 0)`

export const isOn = (feature: Feature): RawBuilder<boolean> => {
  const column = sql.ref(`p.${feature}_access_level`)
  return sql`(${column} = ${sql.lit(FeatureEnabled)}
    or (${column} <> ${sql.lit(FeatureDisabled)} and ${LEVEL} >= ${sql.lit(Guest)}))`
}

export const isOpen = ({ internalToo }: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`p.visibility in (${sql.raw(internalToo ? `'public', 'internal'` : `'public'`)})`

export const isReadable = (way: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`(${LEVEL} >= ${sql.lit(Guest)} or ${isOpen(way)})`
