import type { Generated, GeneratedAlways } from 'kysely'
import type { Row } from '../../../store/database.ts'
import type { ItemType } from '../items/kind.ts'

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
    /** To-do items of users. Each user has at most one pending item per target. */
    todos: {
      id: Generated<number>
      user_id: number
      project_id: number
      /** Exactly one of the three is the target. */
      issue_id: number | null
      merge_request_id: number | null
      commit_sha: string | null
      /** The type of the target, computed by the database. */
      type: GeneratedAlways<ItemType | 'Commit'>
      /** The note that caused it. */
      note_id: number | null
      /** The user who caused it. */
      author_id: number
      action: TodoAction
      state: Generated<'pending' | 'done'>
      /** Maintained by triggers: whether seeing it needs more than access to the project's issues or merge requests. */
      reserved: Generated<boolean>
      /** The event it was created from. Unique, so that a repeated event creates one item. */
      source: string | null
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /** These users got or finished to-do items. */
    'todo.created': { user_ids: number[]; by: number }
    'todo.done': { user_ids: number[] }
  }
}

export type Todo = Row<'todos'>
