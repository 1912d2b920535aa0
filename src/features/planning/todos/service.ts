import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import type { ItemColumns } from '../items/kind.ts'
import type { Todo, TodoAction } from './model.ts'

/** The target of a to-do item. */
export type Target =
  | { readonly project_id: number; readonly issue_id: number }
  | { readonly project_id: number; readonly merge_request_id: number }
  | { readonly project_id: number; readonly commit_sha: string }

/** The cause of a to-do item. */
export interface Cause {
  readonly target: Target
  readonly by: number
  readonly action: TodoAction
  readonly note?: number
  readonly source?: string | null
}

/** Skips users who already have a pending item for the target. */
export async function addTodos(
  app: App,
  { target, by, action, note, source = null }: Cause,
  users: readonly number[],
): Promise<Todo[]> {
  if (users.length === 0) return []
  const now = timestamp(app.clock)
  const rows = users.map((user_id) => ({
    user_id,
    issue_id: null,
    merge_request_id: null,
    commit_sha: null,
    ...target,
    note_id: note ?? null,
    author_id: by,
    action,
    source,
    created_at: now,
    updated_at: now,
  }))
  return transact(app, async (app) => {
    const added = await app.db
      .insertInto('todos')
      .values(rows)
      .onConflict((c) => c.doNothing())
      .returningAll()
      .execute()
    if (added.length > 0) await emit(app, 'todo.created', { user_ids: added.map(({ user_id }) => user_id), by })
    return added
  })
}

/** Includes users who assign themselves. */
export const addAssignedTodos = (
  app: TransactionApp,
  actor: User,
  target: Target,
  people: readonly User[],
  action: 'assigned' | 'review_requested' = 'assigned',
): Promise<Todo[]> =>
  addTodos(
    app,
    { target, by: actor.id, action },
    people.map(({ id }) => id),
  )

/** Null if a pending item already exists. */
export async function remind(app: App, actor: User, target: Target): Promise<Todo | null> {
  const [added] = await addTodos(app, { target, by: actor.id, action: 'marked' }, [actor.id])
  return added ?? null
}

export async function markTodo(app: App, actor: User, target: Target): Promise<Todo> {
  const added = await unlessOrphan(remind(app, actor, target), notFound)
  if (!added) throw new Refusal('not_modified')
  return added
}

type Seen = ItemColumns | Target

/** Marks the user's items for a target as done. */
export async function finishTodos(app: App, user: number, seen: Seen): Promise<void> {
  await finish(app, (todos) => todos.where('user_id', '=', user).where((eb) => eb.and(seen)))
}

export async function finishTodosById(app: App, ids: readonly number[]): Promise<void> {
  await finish(app, (todos) => todos.where(inIdList(app.db, 'id', idList(app.db, ids))))
}

const pending = ({ db, clock }: App) =>
  db
    .updateTable('todos')
    .set({ state: 'done', updated_at: timestamp(clock) })
    .where('state', '=', 'pending')

type Pending = ReturnType<typeof pending>

async function finish(app: App, which: (todos: Pending) => Pending): Promise<void> {
  await transact(app, async (app) => {
    const done = await which(pending(app)).returning('user_id').execute()
    const user_ids = [...new Set(done.map(({ user_id }) => user_id))]
    if (user_ids.length > 0) await emit(app, 'todo.done', { user_ids })
  })
}
