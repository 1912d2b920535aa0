import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { SimpleProjectEntity, type SimpleProjectRecord } from '../../projects/projects/entity.ts'
import { CommitEntity, type CommitRecord } from '../../repository/commits/entity.ts'
import { IssueEntity, type IssueRecord } from '../issues/entity.ts'
import { TODO_ACTIONS, type Todo } from './model.ts'

/** The fields of a merge request that a to-do item shows. */
export interface MergeRequestTarget {
  readonly id: number
  readonly title: string
  readonly web_url: string
}

/** The context above declares the record of merge requests. */
export const todoEntity = <E extends z.ZodType<MergeRequestTarget>>(mergeRequest: E) =>
  entity({
    id: z.int(),
    project: SimpleProjectEntity,
    author: UserSummaryEntity,
    action_name: z.enum(TODO_ACTIONS),
    target_type: z.enum(['Issue', 'MergeRequest', 'Commit']),
    target: z.union([IssueEntity, mergeRequest, CommitEntity]),
    target_url: z.string(),
    body: z.string(),
    state: z.enum(['pending', 'done']),
    created_at: timestampOut,
    updated_at: timestampOut,
  }).meta({ id: 'Todo' })

export interface LoadedTodo extends Todo {
  readonly author: User
  readonly project: SimpleProjectRecord
  readonly target: IssueRecord | MergeRequestTarget | CommitRecord
  readonly note: { readonly id: number; readonly body: string } | null
}

const typeOf = ({ issue_id, merge_request_id }: Todo) =>
  issue_id !== null ? ('Issue' as const) : merge_request_id !== null ? ('MergeRequest' as const) : ('Commit' as const)

export const presentTodo = (todo: LoadedTodo, around: Surroundings) => ({
  id: todo.id,
  project: todo.project,
  author: presentUserSummary(todo.author, around),
  action_name: todo.action,
  target_type: typeOf(todo),
  target: todo.target,
  target_url: todo.note ? `${todo.target.web_url}#note_${todo.note.id}` : todo.target.web_url,
  body: todo.note?.body ?? todo.target.title,
  state: todo.state,
  created_at: todo.created_at,
  updated_at: todo.updated_at,
})
