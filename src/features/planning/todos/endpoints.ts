/** The to-do endpoints, for the context that can present every target. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, oneOf } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { issue } from '../issues/queries.ts'
import { todoEntity, type MergeRequestTarget } from './entity.ts'
import { TODO_ACTIONS, type Todo } from './model.ts'
import { listTodos, pendingIds, presentTodos, todo, type PresentMergeRequests } from './queries.ts'
import { finishTodosById, markTodo } from './service.ts'

const TYPES = ['Issue', 'MergeRequest', 'Commit', 'DesignManagement::Design', 'AlertManagement::Alert'] as const

const input = z.object({
  action: oneOf(...TODO_ACTIONS).nullish(),
  author_id: blankable(id),
  project_id: blankable(id),
  group_id: blankable(id),
  state: oneOf('pending', 'done').nullish(),
  type: oneOf(...TYPES).nullish(),
})

export function todoEndpoints<E extends z.ZodType<MergeRequestTarget>>(mergeRequest: E, present: PresentMergeRequests) {
  const TodoEntity = todoEntity(mergeRequest)
  const one = async (app: App, viewer: User, todo: Todo) =>
    (await presentTodos(app, viewer, [todo], present))[0]! as z.infer<typeof TodoEntity>

  const list = endpoint({
    method: 'GET',
    path: '/todos',
    summary: 'List to-do items',
    allow: 'signed_in',
    input,
    output: pageOf(TodoEntity),
    async handle({ app, viewer, input, page }) {
      const { items, total } = await listTodos(app, viewer, input, page)
      return { total, items: await presentTodos(app, viewer, items, present) }
    },
  })

  const finish = endpoint({
    method: 'POST',
    path: '/todos/:id/mark_as_done',
    summary: 'Mark a to-do item as done',
    on: todo,
    allow: 'read',
    output: TodoEntity,
    async handle({ app, viewer, subject }) {
      await finishTodosById(app, [subject.todo.id])
      return one(app, viewer, { ...subject.todo, state: 'done' })
    },
  })

  const finishAll = endpoint({
    method: 'POST',
    path: '/todos/mark_as_done',
    summary: 'Mark all to-do items as done, or those of a filter',
    allow: 'signed_in',
    input,
    output: null,
    status: 204,
    handle: async ({ app, viewer, input }) => finishTodosById(app, await pendingIds(app, viewer, input)),
  })

  const mark = endpoint({
    method: 'POST',
    path: '/projects/:id/issues/:issue_iid/todo',
    summary: 'Create a to-do item for an issue',
    on: issue,
    allow: 'participate',
    output: TodoEntity,
    handle: async ({ app, viewer, subject }) =>
      one(
        app,
        viewer,
        await markTodo(app, viewer, { project_id: subject.issue.project_id, issue_id: subject.issue.id }),
      ),
  })

  return { TodoEntity, presentOneTodo: one, endpoints: { list, finish, finishAll, mark } }
}
