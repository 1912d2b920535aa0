/**
 * Visibility of a project and its features for a viewer, as SQL conditions: `p` is the row of `projects`, `t` the
 * viewer's row of `project_authorizations`. For merge requests also as rules for one project.
 */
import { sql, type RawBuilder } from 'kysely'
import { FeatureDisabled, FeatureEnabled, Guest, Reporter } from '../../lib/levels.ts'
import { hasFeature, type Feature, type ProjectSubject } from '../projects/projects/policy.ts'

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

export const isOpen = ({ internalToo }: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`p.visibility in (${sql.raw(internalToo ? `'public', 'internal'` : `'public'`)})`

export const isReadable = (way: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`(${LEVEL} >= ${sql.lit(Guest)} or ${isOpen(way)})`

export const hasMergeRequests = (s: Pick<ProjectSubject, 'project' | 'level'>): boolean =>
  hasFeature(s, 'merge_requests') && hasFeature(s, 'repository')

/** Whether the viewer sees all merge requests of a project. Authors, assignees and reviewers see theirs anyway. */
export const readsMergeRequests = (s: ProjectSubject): boolean =>
  hasMergeRequests(s) && (s.level >= Reporter || s.open.includes(s.project.visibility))

/** The same, as a condition. */
export const seesMergeRequests = (way: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`(${isOn('merge_requests')} and ${isOn('repository')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)}))`

/** Whether the viewer is author, assignee or reviewer of `m`. */
export const isOfMergeRequest = (viewer: number): RawBuilder<boolean> => sql`(m.author_id = ${viewer}
  or exists (select 1 from merge_request_assignees a where a.merge_request_id = m.id and a.user_id = ${viewer})
  or exists (select 1 from merge_request_reviewers r where r.merge_request_id = m.id and r.user_id = ${viewer}))`

/** Whether the viewer sees the merge request `m`. Authors, assignees and reviewers do. */
export const seesMergeRequest = (viewer: number, way: { internalToo: boolean }): RawBuilder<boolean> =>
  sql`(${isOn('merge_requests')} and ${isOn('repository')}
    and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(way)} or ${isOfMergeRequest(viewer)}))`

/** Whether the viewer sees the issue `i`. */
export const seesIssue = (viewer: number): RawBuilder<boolean> => sql`(${isOn('issues')}
  and (not i.confidential or ${LEVEL} >= ${sql.lit(Reporter)} or i.author_id = ${viewer}
    or exists (select 1 from issue_assignees a where a.issue_id = i.id and a.user_id = ${viewer})))`
