import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { issueItems } from '../../planning/issues/item.ts'
import type { RegisteredKind } from '../../planning/items/registry.ts'
import { isReadable } from '../../planning/seeing.ts'
import { mergeRequestItems } from '../merge-requests/item.ts'

type Way = 'closing' | 'related'

/** Merge requests that close an issue, mention it or are mentioned by it, as far as the viewer may see them. */
export function listOfIssue(app: App, viewer: User | null, issue: number, way: Way, page: PageRequest) {
  const closing = sql`select merge_request_id from merge_request_closes where issue_id = ${issue}`
  const related = sql`${closing}
    union select source_merge_request_id from text_references
      where target_issue_id = ${issue} and source_merge_request_id is not null
    union select target_merge_request_id from text_references
      where source_issue_id = ${issue} and target_merge_request_id is not null`
  return listSeen(app, viewer, mergeRequestItems, way === 'closing' ? closing : related, page)
}

/** Issues that a merge request closes or mentions in its texts and notes, as far as the viewer may see them. */
export function listRelatedIssues(app: App, viewer: User, mergeRequest: number, page: PageRequest) {
  const related = sql`select issue_id from merge_request_closes where merge_request_id = ${mergeRequest}
    union select target_issue_id from text_references
      where source_merge_request_id = ${mergeRequest} and target_issue_id is not null`
  return listSeen(app, viewer, issueItems, related, page)
}

function listSeen(
  { db }: App,
  viewer: User | null,
  { table, alias, sees }: RegisteredKind,
  ids: RawBuilder<unknown>,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  const user = viewer?.id ?? 0
  const from = { internalToo: openVisibilities(viewer).includes('internal') }
  const isSeen = viewer?.admin ? sql<boolean>`true` : sql<boolean>`${isReadable(from)} and ${sees(user, from)}`
  const id = sql.ref<number>(`${alias}.id`)
  const found = db
    .selectFrom('projects as p')
    .innerJoin(`${table} as ${alias}` as 'issues as i', (join) =>
      join.on(sql<boolean>`${sql.ref(`${alias}.project_id`)} = p.id`),
    )
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.project_id', '=', 'p.id').on('t.user_id', '=', user),
    )
    .select(id.as('id'))
    .where(sql<boolean>`${id} in (${ids})`)
    .where('p.deleting', '=', false)
    .where(isSeen)
    .orderBy(id)
  return pageOfQuery(found, page)
}
