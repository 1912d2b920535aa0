import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { SimpleProjectEntity, type SimpleProjectRecord } from '../../projects/projects/entity.ts'
import { CommitEntity, type CommitRecord } from '../../repository/commits/entity.ts'
import { itemKinds, type ItemRecord } from '../items/registry.ts'
import { TODO_ACTIONS, type Todo } from './model.ts'

export const TodoEntity = entity({
  id: z.int(),
  project: SimpleProjectEntity,
  author: UserSummaryEntity,
  action_name: z.enum(TODO_ACTIONS),
  target_type: z.enum(['Issue', 'MergeRequest', 'Commit']),
  target: z.lazy(() => z.union([...itemKinds().map(({ entity }) => entity), CommitEntity])),
  target_url: z.string(),
  body: z.string(),
  state: z.enum(['pending', 'done']),
  created_at: timestampOut,
  updated_at: timestampOut,
}).meta({ id: 'Todo' })

export interface LoadedTodo extends Todo {
  readonly author: User
  readonly project: SimpleProjectRecord
  readonly target: ItemRecord | CommitRecord
  readonly note: { readonly id: number; readonly body: string } | null
}

export const presentTodo = (todo: LoadedTodo, around: Surroundings): z.infer<typeof TodoEntity> => ({
  id: todo.id,
  project: todo.project,
  author: presentUserSummary(todo.author, around),
  action_name: todo.action,
  target_type: todo.type,
  target: todo.target,
  target_url: todo.note ? `${todo.target.web_url}#note_${todo.note.id}` : todo.target.web_url,
  body: todo.note?.body ?? todo.target.title,
  state: todo.state,
  created_at: todo.created_at,
  updated_at: todo.updated_at,
})
