import { endpoint, type Endpoint } from '../../../api/endpoint.ts'
import { targetOfItem } from '../items/kind.ts'
import type { RegisteredKind } from '../items/registry.ts'
import { TodoEntity } from './entity.ts'
import { presentOneTodo } from './queries.ts'
import { markTodo } from './service.ts'

const markEndpoint = (kind: RegisteredKind): Endpoint =>
  endpoint({
    method: 'POST',
    path: `${kind.path}/todo`,
    summary: `Create a to-do item for ${kind.one}`,
    on: kind.resource,
    allow: 'participate',
    output: TodoEntity,
    handle: async ({ app, viewer, subject }) =>
      presentOneTodo(app, viewer, await markTodo(app, viewer, targetOfItem(kind, kind.itemOf(subject)))),
  })

/** One per kind of item: `mark` for issues, `markMergeRequest` for merge requests. */
export const markEndpoints = (kinds: readonly RegisteredKind[]): Record<string, Endpoint> =>
  Object.fromEntries(kinds.map((kind) => [kind.key === 'issue' ? 'mark' : `mark${kind.type}`, markEndpoint(kind)]))
