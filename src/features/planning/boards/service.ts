import { z } from 'zod'
import { assertRules } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal, notFound, taken } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { findVisibleLabel } from '../labels/queries.ts'
import { columnsAt, type ScopeRow } from '../scopes.ts'
import { titleRule } from '../titles.ts'
import type { LoadedList } from './entity.ts'
import type { Board, BoardList } from './model.ts'
import { boardsOf, listsOf } from './queries.ts'

const FIRST_BOARD = 'Development'

/** Creates the first board on first use. */
export async function ensureBoard(app: App, scope: ScopeRow): Promise<void> {
  if (await boardsOf(app.db, scope).limit(1).executeTakeFirst()) return
  await transact(app, async (app) => {
    await lockName(app.db, `boards of ${scope.project?.id} in ${scope.namespace.id}`)
    if (await boardsOf(app.db, scope).limit(1).executeTakeFirst()) return // created by another request meanwhile
    await createBoard(app, scope, FIRST_BOARD)
  })
}

const boardRules = z.object({ name: titleRule })

export async function createBoard({ db, clock }: App, scope: ScopeRow, name: string): Promise<Board> {
  assertRules(boardRules, { name: name.trim() })
  const now = timestamp(clock)
  return db
    .insertInto('boards')
    .values({ ...columnsAt(scope), name: name.trim(), created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

interface BoardChange {
  name?: string | null | undefined
  hide_backlog_list?: boolean | null | undefined
  hide_closed_list?: boolean | null | undefined
}

export async function updateBoard(app: App, { id }: Board, input: BoardChange): Promise<Board> {
  const { name, hide_backlog_list, hide_closed_list } = input
  if (typeof name === 'string') assertRules(boardRules, { name: name.trim() })
  const board = await app.db
    .updateTable('boards')
    .set({
      ...(typeof name === 'string' && { name: name.trim() }),
      ...(typeof hide_backlog_list === 'boolean' && { hide_backlog_list }),
      ...(typeof hide_closed_list === 'boolean' && { hide_closed_list }),
      updated_at: timestamp(app.clock),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!board) throw notFound('Board') // deleted by another request meanwhile
  return board
}

export async function deleteBoard({ db }: App, { id }: Board): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('boards').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Board') // deleted by another request meanwhile
}

/** Locks the lists of a board: concurrent changes wait, because each change writes all positions. */
async function lockLists(app: TransactionApp, board: Board): Promise<LoadedList[]> {
  await lockName(app.db, `lists of board ${board.id}`)
  const still = await app.db.selectFrom('boards').select('id').where('id', '=', board.id).executeTakeFirst()
  if (!still) throw notFound('Board')
  return (await listsOf(app.db, [board.id])).get(board.id)!
}

/** The message is a text here, not a list of texts as in other refusals. */
const refusal = (error: string) => new Refusal('bad_request', error, { body: { message: { error } } })

/** Appends a list. */
export async function addList(app: App, scope: ScopeRow, board: Board, label_id: number): Promise<LoadedList> {
  return transact(app, async (app) => {
    const lists = await lockLists(app, board)
    const label = await findVisibleLabel(app.db, scope, label_id)
    if (!label) throw refusal('Label not found!')
    if (lists.some((list) => list.label_id === label_id)) throw taken('label_id')
    const now = timestamp(app.clock)
    const position = (lists.at(-1)?.position ?? -1) + 1
    const list = await app.db
      .insertInto('board_lists')
      .values({ board_id: board.id, label_id, position, created_at: now, updated_at: now })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...list, label, index: lists.length }
  })
}

/** The lists between the old and the new position shift. */
export async function moveList(app: App, board: Board, { id }: BoardList, position: number): Promise<LoadedList> {
  return transact(app, async (app) => {
    const lists = await lockLists(app, board)
    const moved = lists.find((list) => list.id === id)
    if (!moved) throw notFound() // deleted by another request meanwhile
    if (position === moved.index || position < 0 || position >= lists.length) throw refusal('List could not be moved!')
    const others = lists.filter((list) => list.id !== id)
    for (const [scope, list] of others.toSpliced(position, 0, moved).entries()) {
      if (list.position === scope) continue
      await app.db
        .updateTable('board_lists')
        .set({ position: scope, ...(list.id === id && { updated_at: timestamp(app.clock) }) })
        .where('id', '=', list.id)
        .execute()
    }
    return { ...moved, position, index: position }
  })
}

export async function removeList({ db }: App, { id }: BoardList): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('board_lists').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
}
