import { endpoint } from '../../../api/endpoint.ts'
import { todoEndpoints } from '../../planning/todos/endpoints.ts'
import { markTodo } from '../../planning/todos/service.ts'
import { MergeRequestEntity } from '../merge-requests/entity.ts'
import { presentMergeRequestsById } from '../merge-requests/load.ts'
import { mergeRequest } from '../merge-requests/queries.ts'

const { TodoEntity, presentOneTodo, endpoints } = todoEndpoints(MergeRequestEntity, (app, _viewer, ids) =>
  presentMergeRequestsById(
    app,
    ids.map((id) => ({ id })),
    { isMixed: true },
  ),
)

export const { list, finish, finishAll, mark } = endpoints

export const markMergeRequest = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/todo',
  summary: 'Create a to-do item for a merge request',
  on: mergeRequest,
  allow: 'participate',
  output: TodoEntity,
  async handle({ app, viewer, subject }) {
    const { id, project_id } = subject.mergeRequest
    return presentOneTodo(app, viewer, await markTodo(app, viewer, { project_id, merge_request_id: id }))
  },
})
