import { itemFamily } from '../../family.ts'
import { markEndpoints } from './endpoints.ts'
import { reactions, todoReactions } from './on.ts'
import * as routes from './routes.ts'
import { releaseTodos } from './user-removal.ts'

export const todos = itemFamily((kinds) => ({
  routes: { ...routes, ...markEndpoints(kinds) },
  reactions: [...reactions, ...kinds.flatMap(todoReactions)],
  onUserRemoved: releaseTodos,
}))
