/** Issues of boards. */
import { endpoint } from '../../../api/endpoint.ts'
import type { Json } from '../../../api/json.ts'
import { pageOf, type Page, type PageRequest } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import type { App } from '../../../context.ts'
import { board, boardList, listsOf } from '../boards/queries.ts'
import { planningScopes, type ScopeSubject } from '../scopes.ts'
import { IssueEntity, type IssueRecord } from './entity.ts'
import type { IssueFilter } from './filter.ts'
import { issueLists, type IssueOrder } from './lists.ts'
import { presentIssuesById } from './load.ts'

async function shown(
  app: App,
  scopeSubject: ScopeSubject,
  filter: IssueFilter & { order_by: IssueOrder; sort: 'asc' },
  page: PageRequest,
): Promise<Page<Json<IssueRecord>>> {
  const { items, total } = await issueLists.listAt(app, scopeSubject, filter, page)
  return {
    total,
    items: await presentIssuesById(app, scopeSubject.viewer, items, { isMixed: scopeSubject.project === null }),
  }
}

const inColumn = { order_by: 'relative_position', sort: 'asc' } as const

export const [ofBoardList, ofGroupBoardList] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id/lists/:list_id/issues`,
    summary: 'List the issues of a board’s list, in their order',
    on: boardList(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: pageOf(IssueEntity),
    handle: ({ app, subject, page }) =>
      shown(app, subject, { label_id: subject.list.label_id, state: 'opened', ...inColumn }, page),
  }),
)

export const [ofBacklog, ofGroupBacklog] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id/backlog/issues`,
    summary: 'List the open issues of a board that no list of it shows',
    on: board(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: pageOf(IssueEntity),
    async handle({ app, subject, page }) {
      const lists = (await listsOf(app.db, [subject.board.id])).get(subject.board.id) ?? []
      const label_ids = lists.map(({ label_id }) => label_id)
      return shown(app, subject, { state: 'opened', not: { label_ids }, ...inColumn }, page)
    },
  }),
)

export const [closedOfBoard, closedOfGroupBoard] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id/closed/issues`,
    summary: 'List the closed issues of a board',
    on: board(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: pageOf(IssueEntity),
    handle: ({ app, subject, page }) => shown(app, subject, { state: 'closed', ...inColumn }, page),
  }),
)
