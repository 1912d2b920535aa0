import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, oneOf } from '../../../api/wire.ts'
import { TodoEntity } from './entity.ts'
import { TODO_ACTIONS } from './model.ts'
import { listTodos, pendingIds, presentOneTodo, presentTodos, todo } from './queries.ts'
import { finishTodosById } from './service.ts'

const TYPES = ['Issue', 'MergeRequest', 'Commit', 'DesignManagement::Design', 'AlertManagement::Alert'] as const

const input = z.object({
  action: oneOf(...TODO_ACTIONS).nullish(),
  author_id: blankable(id),
  project_id: blankable(id),
  group_id: blankable(id),
  state: oneOf('pending', 'done').nullish(),
  type: oneOf(...TYPES).nullish(),
})

export const list = endpoint({
  method: 'GET',
  path: '/todos',
  summary: 'List to-do items',
  allow: 'signed_in',
  input,
  output: pageOf(TodoEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listTodos(app, viewer, input, page)
    return { total, items: await presentTodos(app, viewer, items) }
  },
})

export const finish = endpoint({
  method: 'POST',
  path: '/todos/:id/mark_as_done',
  summary: 'Mark a to-do item as done',
  on: todo,
  allow: 'read',
  output: TodoEntity,
  async handle({ app, viewer, subject }) {
    await finishTodosById(app, [subject.todo.id])
    return presentOneTodo(app, viewer, { ...subject.todo, state: 'done' })
  },
})

export const finishAll = endpoint({
  method: 'POST',
  path: '/todos/mark_as_done',
  summary: 'Mark all to-do items as done, or those of a filter',
  allow: 'signed_in',
  input,
  output: null,
  status: 204,
  handle: async ({ app, viewer, input }) => finishTodosById(app, await pendingIds(app, viewer, input)),
})
