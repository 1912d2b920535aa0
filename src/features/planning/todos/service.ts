import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { idList, inIdList, isOrphan } from '../../../store/dialect.ts'
import type { Issue } from '../issues/model.ts'
import type { Todo, TodoAction } from './model.ts'

/** What waits. */
export type Target =
  | { readonly project_id: number; readonly issue_id: number }
  | { readonly project_id: number; readonly commit_sha: string }

const targetOf = ({ id, project_id }: Pick<Issue, 'id' | 'project_id'>): Target => ({ project_id, issue_id: id })

/** Why something waits. */
export interface Cause {
  readonly target: Target
  readonly by: number
  readonly action: TodoAction
  readonly note?: number
  readonly source?: string | null
}

/** For whom something waits there already, nothing more does. */
export async function addTodos(
  { db, clock }: App,
  { target, by, action, note, source = null }: Cause,
  users: readonly number[],
): Promise<Todo[]> {
  if (users.length === 0) return []
  const now = timestamp(clock)
  const rows = users.map((user_id) => ({
    user_id,
    issue_id: null,
    commit_sha: null,
    ...target,
    note_id: note ?? null,
    author_id: by,
    action,
    source,
    created_at: now,
    updated_at: now,
  }))
  return db
    .insertInto('todos')
    .values(rows)
    .onConflict((c) => c.doNothing())
    .returningAll()
    .execute()
}

/** In the transaction of the change. Also for whoever takes it on themselves. */
export const addAssignedTodos = (app: App, actor: User, issue: Issue, assignees: readonly User[]): Promise<Todo[]> =>
  addTodos(
    app,
    { target: targetOf(issue), by: actor.id, action: 'assigned' },
    assignees.map(({ id }) => id),
  )

/** None where something waits there already. */
export async function remind(app: App, actor: User, issue: Issue): Promise<Todo | null> {
  const [added] = await addTodos(app, { target: targetOf(issue), by: actor.id, action: 'marked' }, [actor.id])
  return added ?? null
}

export async function markTodo(app: App, actor: User, issue: Issue): Promise<Todo> {
  const added = await remind(app, actor, issue).catch((error: unknown) => {
    throw isOrphan(error) ? notFound() : error // it has gone meanwhile
  })
  if (!added) throw new Refusal('not_modified')
  return added
}

/** Whoever has seen to an issue. */
export async function finishTodos({ db, clock }: App, user: number, issue: number): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: timestamp(clock) })
    .where('user_id', '=', user)
    .where('issue_id', '=', issue)
    .where('state', '=', 'pending')
    .execute()
}

/** Whoever has answered to a commit. */
export async function finishCommitTodos(
  { db, clock }: App,
  user: number,
  { project_id, commit_sha }: { readonly project_id: number; readonly commit_sha: string },
): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: timestamp(clock) })
    .where('user_id', '=', user)
    .where('project_id', '=', project_id)
    .where('commit_sha', '=', commit_sha)
    .where('state', '=', 'pending')
    .execute()
}

export async function finishTodosById({ db, clock }: App, ids: readonly number[]): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: timestamp(clock) })
    .where(inIdList(db, 'id', idList(db, ids)))
    .where('state', '=', 'pending')
    .execute()
}
