import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { seesIssue } from '../../planning/issues/rules.ts'
import { isReadable } from '../../planning/seeing.ts'
import { seesMergeRequest } from '../merge-requests/rules.ts'

type Way = 'closing' | 'related'

/** Merge requests that close an issue, mention it or are mentioned by it, as far as the viewer may see them. */
export function listOfIssue(
  { db }: App,
  viewer: User | null,
  issue: number,
  way: Way,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  const closing = sql`select merge_request_id from merge_request_closes where issue_id = ${issue}`
  const related = sql`${closing}
    union select source_merge_request_id from text_references
      where target_issue_id = ${issue} and source_merge_request_id is not null
    union select target_merge_request_id from text_references
      where source_issue_id = ${issue} and target_merge_request_id is not null`
  const found = db
    .selectFrom('merge_requests as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.project_id', '=', 'm.project_id').on('t.user_id', '=', viewer?.id ?? 0),
    )
    .select('m.id')
    .where(sql<boolean>`m.id in (${way === 'closing' ? closing : related})`)
    .where('p.deleting', '=', false)
    .where(isSeen(viewer, (way) => seesMergeRequest(viewer?.id ?? 0, way)))
    .orderBy('m.id')
  return pageOfQuery(found, page)
}

/** Issues that a merge request closes or mentions in its texts and notes, as far as the viewer may see them. */
export function listRelatedIssues(
  { db }: App,
  viewer: User,
  mergeRequest: number,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  const related = sql`select issue_id from merge_request_closes where merge_request_id = ${mergeRequest}
    union select target_issue_id from text_references
      where source_merge_request_id = ${mergeRequest} and target_issue_id is not null`
  const found = db
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.project_id', '=', 'i.project_id').on('t.user_id', '=', viewer.id),
    )
    .select('i.id')
    .where(sql<boolean>`i.id in (${related})`)
    .where('p.deleting', '=', false)
    .where(isSeen(viewer, () => seesIssue(viewer.id)))
    .orderBy('i.id')
  return pageOfQuery(found, page)
}

/** Expects `p`, the project, and `t`, the viewer's authorization in it. */
function isSeen(viewer: User | null, sees: (way: { internalToo: boolean }) => RawBuilder<boolean>) {
  if (viewer?.admin) return sql<boolean>`true`
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  return sql<boolean>`${isReadable(way)} and ${sees(way)}`
}
