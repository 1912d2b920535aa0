import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, id, int, text } from '../../../api/wire.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { planningScopes } from '../scopes.ts'
import { BoardEntity, BoardListEntity, presentList } from './entity.ts'
import { board, boardList, listBoards, listsOf, presentBoards, presentOneBoard } from './queries.ts'
import { addList, createBoard, deleteBoard, ensureBoard, moveList, removeList, updateBoard } from './service.ts'

export const [list, listOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards`,
    summary: `List the boards of a ${scope.kind}; creates one if there is none`,
    on: scope.resource,
    allow: 'readBoards',
    by: 'visitor',
    output: pageOf(BoardEntity),
    async handle({ app, viewer, subject, page }) {
      await ensureBoard(app, subject)
      const { items, total } = await listBoards(app.db, subject, page)
      return { total, items: await presentBoards(app, viewer, subject, items) }
    },
  }),
)

export const [get, getOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id`,
    summary: `Get a board of a ${scope.kind}`,
    on: board(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: BoardEntity,
    handle: ({ app, viewer, subject }) => presentOneBoard(app, viewer, subject, subject.board),
  }),
)

export const [create, createInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/boards`,
    summary: `Add a board to a ${scope.kind}`,
    on: scope.resource,
    allow: 'planBoards',
    input: z.object({ name: text }),
    output: BoardEntity,
    async handle({ app, viewer, subject, input }) {
      return presentOneBoard(app, viewer, subject, await createBoard(app, subject, input.name))
    },
  }),
)

const changes = { name: text.nullish(), hide_backlog_list: bool.nullish(), hide_closed_list: bool.nullish() }

export const [update, updateInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/boards/:board_id`,
    summary: `Update a board of a ${scope.kind}`,
    on: board(scope),
    allow: 'planBoards',
    input: z.object(changes),
    output: BoardEntity,
    async handle({ app, viewer, subject, input }) {
      return presentOneBoard(app, viewer, subject, await updateBoard(app, subject.board, input))
    },
  }),
)

export const [destroy, destroyInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/boards/:board_id`,
    summary: `Delete a board of a ${scope.kind}`,
    on: board(scope),
    allow: 'planBoards',
    changedAt: ({ board }) => board.updated_at,
    output: null,
    handle: ({ app, subject }) => deleteBoard(app, subject.board),
  }),
)

export const [lists, listsInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id/lists`,
    summary: `List the lists of a board of a ${scope.kind}, in their order`,
    on: board(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: pageOf(BoardListEntity),
    async handle({ app, subject: { board }, page }) {
      const all = (await listsOf(app.db, [board.id])).get(board.id)!
      const { items, total } = pageOfArray(all, page)
      return { total, items: items.map(presentList) }
    },
  }),
)

export const [getList, getListInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/boards/:board_id/lists/:list_id`,
    summary: `Get a list of a board of a ${scope.kind}`,
    on: boardList(scope),
    allow: 'readBoards',
    by: 'visitor',
    output: BoardListEntity,
    handle: async ({ subject }) => presentList(subject.list),
  }),
)

export const [createList, createListInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/boards/:board_id/lists`,
    summary: `Add a list of a label to a board of a ${scope.kind}`,
    on: board(scope),
    allow: 'planBoards',
    input: z.object({ label_id: id }),
    output: BoardListEntity,
    async handle({ app, subject, input }) {
      return presentList(await addList(app, subject, subject.board, input.label_id))
    },
  }),
)

export const [updateList, updateListInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/boards/:board_id/lists/:list_id`,
    summary: `Move a list of a board of a ${scope.kind}`,
    on: boardList(scope),
    allow: 'planBoards',
    input: z.object({ position: int }),
    output: BoardListEntity,
    async handle({ app, subject, input }) {
      return presentList(await moveList(app, subject.board, subject.list, input.position))
    },
  }),
)

export const [destroyList, destroyListInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/boards/:board_id/lists/:list_id`,
    summary: `Remove a list from a board of a ${scope.kind}`,
    on: boardList(scope),
    allow: 'planBoards',
    changedAt: ({ list }) => list.updated_at,
    output: null,
    handle: ({ app, subject }) => removeList(app, subject.list),
  }),
)
