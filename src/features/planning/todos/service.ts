import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotInsert, hotQuery } from '../../../store/hot.ts'
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

const insertTodos = hotInsert(
  'todos',
  [
    'user_id',
    'project_id',
    'issue_id',
    'merge_request_id',
    'commit_sha',
    'note_id',
    'author_id',
    'action',
    'source',
    'created_at',
    'updated_at',
  ],
  { skip: true },
)

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
    ...target,
    note_id: note ?? null,
    author_id: by,
    action,
    source,
    created_at: now,
    updated_at: now,
  }))
  return transact(app, async (app) => {
    const added = await insertTodos(app.db, rows)
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

interface Seen {
  readonly project_id?: number
  readonly issue_id?: number
  readonly merge_request_id?: number
  readonly commit_sha?: string
}

/** Marks the user's items for a target as done. */
export async function finishTodos(app: App, user: number, seen: ItemColumns | Target): Promise<void> {
  await finish(app, { user_id: user, ...seen })
}

export async function finishTodosById(app: App, ids: readonly number[]): Promise<void> {
  await finish(app, { ids: idList(app.db, ids) })
}

type Which = (Seen & { readonly user_id: number }) | { readonly ids: string }

const finishPending = hotQuery((db, p: Seen & { user_id?: number; ids?: string; now: string }, given) =>
  db
    .updateTable('todos')
    .set({ state: 'done', updated_at: p.now })
    .where('state', '=', 'pending')
    .$if(given('ids'), (todos) => todos.where(inIdList(db, 'id', p.ids!)))
    .$if(given('user_id'), (todos) => todos.where('user_id', '=', p.user_id!))
    .$if(given('project_id'), (todos) => todos.where('project_id', '=', p.project_id!))
    .$if(given('issue_id'), (todos) => todos.where('issue_id', '=', p.issue_id!))
    .$if(given('merge_request_id'), (todos) => todos.where('merge_request_id', '=', p.merge_request_id!))
    .$if(given('commit_sha'), (todos) => todos.where('commit_sha', '=', p.commit_sha!))
    .returning('user_id'),
)

async function finish(app: App, which: Which): Promise<void> {
  await transact(app, async (app) => {
    const done = await finishPending(app.db, { ...which, now: timestamp(app.clock) })
    const user_ids = [...new Set(done.map(({ user_id }) => user_id))]
    if (user_ids.length > 0) await emit(app, 'todo.done', { user_ids })
  })
}
