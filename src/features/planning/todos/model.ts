import type { Generated, GeneratedAlways } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const TODO_ACTIONS = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'review_requested',
  'member_access_requested',
  'review_submitted',
] as const
export type TodoAction = (typeof TODO_ACTIONS)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    /** What waits for people. Of each target at most one is pending. */
    todos: {
      id: Generated<number>
      user_id: number
      project_id: number
      /** One of the three: what waits. */
      issue_id: number | null
      merge_request_id: number | null
      commit_sha: string | null
      /** Which of them; by the engine. */
      type: GeneratedAlways<'Issue' | 'MergeRequest' | 'Commit'>
      /** That it came of. */
      note_id: number | null
      /** Who caused it. */
      author_id: number
      action: TodoAction
      state: Generated<'pending' | 'done'>
      /** By triggers: whether it takes more than seeing the project's issues or merge requests to see it. */
      reserved: Generated<boolean>
      /** The news it was made of: what is told twice waits once. */
      source: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /** Something waits for these, or does no more. */
    'todo.created': { user_ids: number[]; by: number }
    'todo.done': { user_ids: number[] }
  }
}

export type Todo = Row<'todos'>
