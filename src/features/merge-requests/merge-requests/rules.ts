import { sql, type RawBuilder } from 'kysely'
import { Reporter } from '../../../lib/levels.ts'
import type { ItemRules } from '../../planning/items/readers.ts'
import { LEVEL, isOn, isOpen, type SeenFrom } from '../../planning/seeing.ts'
import { mergeRequestKind } from './kind.ts'
import { mergeRequestPolicy, mergeRequestsPolicy, type ViewedMergeRequest } from './policy.ts'

/** Who sees a merge request. */
export const mergeRequestRules = {
  ...mergeRequestKind,
  reads(subject, one, isTheirs) {
    const mergeRequest = { ...(one as ViewedMergeRequest), assigned: isTheirs, reviewing: isTheirs }
    const seen = { ...subject, dir: '', mergeRequest }
    return mergeRequestPolicy.read(seen) && mergeRequestPolicy.readMergeRequest(seen)
  },
  readsAll(subject) {
    const seen = { ...subject, dir: '' }
    return mergeRequestsPolicy.read(seen) && mergeRequestsPolicy.readMergeRequests(seen)
  },
} as const satisfies ItemRules

/** Whether the viewer sees all merge requests of the project. */
export const seesMergeRequests = (from: SeenFrom): RawBuilder<boolean> =>
  sql`(${isOn('merge_requests')} and ${isOn('repository')} and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(from)}))`

/** Whether the viewer is author, assignee or reviewer of `m`. */
const isOfMergeRequest = (viewer: number): RawBuilder<boolean> => sql`(m.author_id = ${viewer}
  or exists (select 1 from merge_request_assignees a where a.merge_request_id = m.id and a.user_id = ${viewer})
  or exists (select 1 from merge_request_reviewers r where r.merge_request_id = m.id and r.user_id = ${viewer}))`

/** Whether the viewer sees the merge request `m`. Authors, assignees and reviewers do. */
export const seesMergeRequest = (viewer: number, from: SeenFrom): RawBuilder<boolean> =>
  sql`(${isOn('merge_requests')} and ${isOn('repository')}
    and (${LEVEL} >= ${sql.lit(Reporter)} or ${isOpen(from)} or ${isOfMergeRequest(viewer)}))`
