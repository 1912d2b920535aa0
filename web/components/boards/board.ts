/** The data of a board, and its form actions. */
import { Refused } from '../../api.ts'
import { text, type Act, type Page, type PageRequest } from '../../page.ts'
import { undoable } from '../../undo.ts'
import type { BoardData } from './Board.tsx'
import type { Column } from './column.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/planning.ts'

export type BoardScope = 'project' | 'group'

/** The list of issues shows the rest. */
const per_page = 50

/** Both have the same fields; the types are those of projects. */
const boardsOf = (scope: BoardScope) => `/${scope}s/{id}/boards` as '/projects/{id}/boards'
const boardOf = (scope: BoardScope) => `${boardsOf(scope)}/{board_id}` as const
const labelsOf = (scope: BoardScope) => `/${scope}s/{id}/labels` as '/projects/{id}/labels'

export async function loadBoard(scope: BoardScope, { api, params }: PageRequest, boardId: string | null) {
  const id = params.id!
  const labels = api.maybe(labelsOf(scope), { id, per_page: 100 }).then((found) => found ?? [])
  const boards = await api.get(boardsOf(scope), { id, per_page: 100 })
  const board = boardId === null ? (boards[0] ?? null) : boards.find((one) => String(one.id) === boardId)
  if (board === undefined) throw new Refused({ status: 404, headers: {}, body: null })
  return { boards, board, labels, columns: board ? columnsOf({ scope, api, id, board }) : [] }
}

interface Filter {
  scope: BoardScope
  api: PageRequest['api']
  id: string
  board: NonNullable<BoardData['board']>
}

async function columnsOf({ scope, api, id, board }: Filter): Promise<Column[]> {
  const path = boardOf(scope)
  const at = { id, board_id: board.id, per_page }
  const fixed = async (key: 'opened' | 'closed', title: string): Promise<Column> => ({
    key,
    title,
    list: null,
    color: null,
    issues: await api.list(key === 'opened' ? `${path}/backlog/issues` : `${path}/closed/issues`, at),
  })
  const lists = board.lists.map(async (list): Promise<Column> => ({
    key: list.label.name,
    title: list.label.name,
    list: list.id,
    color: list.label.color,
    issues: await api.list(`${path}/lists/{list_id}/issues`, { ...at, list_id: list.id }),
  }))
  return Promise.all([fixed('opened', common.open), ...lists, fixed('closed', common.closed)])
}

const ISSUE = '/projects/{id}/issues/{issue_iid}'

/** The change for a move between columns: the label or the state. */
function change(from: string, to: string) {
  const isLabel = (column: string) => column !== 'opened' && column !== 'closed'
  return {
    ...(isLabel(from) && from !== to && { remove_labels: [from] }),
    ...(isLabel(to) && from !== to && { add_labels: [to] }),
    ...(to === 'closed' && from !== 'closed' && { state_event: 'close' as const }),
    ...(from === 'closed' && to !== 'closed' && { state_event: 'reopen' as const }),
  }
}

const which = ({ form }: Act) => ({ id: text(form, 'project'), issue_iid: text(form, 'iid') })

export function boardActions(scope: BoardScope): NonNullable<Page['actions']> {
  const lists = `${boardOf(scope)}/lists` as const
  return {
    async move(act) {
      const [from, to] = [text(act.form, 'from'), text(act.form, 'to')]
      if (from !== to) await act.api.put(ISSUE, { ...which(act), ...change(from, to) })
      const [after, before] = [text(act.form, 'after'), text(act.form, 'before')]
      if (after || before) {
        await act.api.put(`${ISSUE}/reorder`, {
          ...which(act),
          ...(after && { move_after_id: Number(after) }),
          ...(before && { move_before_id: Number(before) }),
        })
      }
      if (from === to) return
      const back = { project: text(act.form, 'project'), iid: text(act.form, 'iid'), from: to, to: from }
      return undoable(t.moved(back.iid), 'move', back)
    },
    async begin({ api, params, form }) {
      const board = await api.post(boardsOf(scope), { id: params.id!, name: text(form, 'name') || t.development })
      const base = scope === 'group' ? `/groups/${params.id}` : `/${params.id}`
      return `${base}/-/boards/${board.id}`
    },
    async removeBoard({ api, params, form }) {
      await api.delete(boardOf(scope), { id: params.id!, board_id: text(form, 'board_id') })
      return `${scope === 'group' ? '/groups' : ''}/${params.id}/-/boards`
    },
    async addList({ api, params, form }) {
      const label_id = Number(text(form, 'label_id'))
      await api.post(lists, { id: params.id!, board_id: text(form, 'board_id'), label_id })
    },
    async removeList({ api, params, form }) {
      const at = { board_id: text(form, 'board_id'), list_id: text(form, 'list_id') }
      await api.delete(`${lists}/{list_id}`, { id: params.id!, ...at })
    },
    async add({ api, params, form }) {
      const list = text(form, 'list')
      const labels = list === 'opened' ? {} : { labels: [list] }
      await api.post('/projects/{id}/issues', { id: params.id!, title: text(form, 'title'), ...labels })
    },
  }
}
