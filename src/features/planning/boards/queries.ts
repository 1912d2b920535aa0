import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { presentSimpleProject } from '../../projects/projects/entity.ts'
import { addresses, loadProjects } from '../../projects/projects/load.ts'
import { isAt, type PlanningScope, type ScopeSubject, type ScopeRow } from '../scopes.ts'
import { presentBoard, type BoardRecord, type LoadedList } from './entity.ts'
import type { Board } from './model.ts'

export const boardsOf = (db: Db, scopeSubject: ScopeRow) =>
  db.selectFrom('boards').selectAll('boards').where(isAt(scopeSubject, 'boards'))

/** In the order of creation. */
export const listBoards = (db: Db, scopeSubject: ScopeRow, page: PageRequest): Promise<Page<Board>> =>
  pageOfQuery(boardsOf(db, scopeSubject).orderBy('id'), page)

/**
 * Whether the board can still see the label of a list. After a transfer it no longer sees labels of its former group.
 */
const isOfItsLabel = sql<boolean>`exists (select 1 from boards b join labels l on l.id = board_lists.label_id
  left join projects p on p.id = b.project_id where b.id = board_lists.board_id
  and (l.project_id = b.project_id or l.group_id in (select a.ancestor_id from namespace_ancestors a
    where a.namespace_id = coalesce(b.group_id, p.namespace_id))))`

/** The lists of several boards in one query, in order. */
export async function listsOf(db: Db, boards: readonly number[]): Promise<Map<number, LoadedList[]>> {
  if (boards.length === 0) return new Map()
  const lists = await db
    .selectFrom('board_lists')
    .selectAll()
    .where(inIdList(db, 'board_id', idList(db, boards)))
    .where(isOfItsLabel)
    .orderBy('position')
    .orderBy('id')
    .execute()
  const labelIds = lists.map(({ label_id }) => label_id)
  const labels = await db
    .selectFrom('labels')
    .selectAll()
    .where(inIdList(db, 'id', idList(db, labelIds)))
    .execute()
  const byId = new Map(labels.map((label) => [label.id, label]))
  const byBoard = new Map<number, LoadedList[]>(boards.map((board) => [board, []]))
  for (const list of lists) {
    const label = byId.get(list.label_id)
    const others = byBoard.get(list.board_id)!
    if (label) others.push({ ...list, label, index: others.length })
  }
  return byBoard
}

/** The records of a page of boards, in a fixed number of queries. */
export async function presentBoards(
  app: App,
  viewer: User | null,
  { project, namespace: group }: ScopeSubject,
  boards: readonly Board[],
): Promise<BoardRecord[]> {
  if (boards.length === 0) return []
  const lists = await listsOf(
    app.db,
    boards.map(({ id }) => id),
  )
  const [loaded] = project ? await loadProjects(app.db, viewer, [project]) : []
  const around = {
    url: app.url,
    group,
    project: loaded ? presentSimpleProject(loaded, addresses(app)) : null,
  }
  return boards.map((board) => presentBoard({ ...board, lists: lists.get(board.id) ?? [] }, around))
}

export async function presentOneBoard(
  app: App,
  viewer: User | null,
  scopeSubject: ScopeSubject,
  board: Board,
): Promise<BoardRecord> {
  return (await presentBoards(app, viewer, scopeSubject, [board]))[0]!
}

export const board = ({ resource }: PlanningScope) =>
  child(resource, {
    name: 'Board',
    key: 'board',
    params: { board_id: id },
    find: (app, scopeSubject, { board_id }) =>
      boardsOf(app.db, scopeSubject).where('id', '=', board_id).executeTakeFirst(),
  })

export const boardList = (scope: PlanningScope) =>
  child(board(scope), {
    key: 'list',
    params: { list_id: id },
    find: async (app, { board }, { list_id }) =>
      (await listsOf(app.db, [board.id])).get(board.id)!.find((list) => list.id === list_id),
  })
