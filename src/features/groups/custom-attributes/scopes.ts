/** The three kinds of owners of custom attributes. A family declares an endpoint once, for each of them. */
import { z } from 'zod'
import { child, publicPolicy, resource, type Endpoint } from '../../../api/endpoint.ts'
import { filledText, id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Whose } from '../../identity/custom-attributes.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProject } from '../../projects/projects/queries.ts'
import { findGroup } from '../groups/queries.ts'

interface ScopePlan {
  name: 'User' | 'Group' | 'Project'
  path: '/users/:id(\\d+)' | '/groups/:id' | '/projects/:id'
  whose: Whose
  params: z.ZodObject
  find(app: App, id: never): Promise<{ id: number } | null>
}

function scope({ name, path, whose, params, find }: ScopePlan) {
  const owner = resource({
    name,
    params,
    policy: publicPolicy,
    async find(app, given) {
      const found = await find(app, given.id as never)
      return found && { whose, id: found.id }
    },
  })
  const attribute = child(owner, {
    key: 'attribute',
    params: { key: filledText },
    find: ({ db }, { id }, { key }) =>
      db
        .selectFrom('custom_attributes')
        .select(['key', 'value'])
        .where(whose, '=', id)
        .where('key', '=', key)
        .executeTakeFirst(),
  })
  return { kind: name.toLowerCase(), path, owner, attribute }
}

type Scope = ReturnType<typeof scope>

const users = scope({
  name: 'User',
  path: '/users/:id(\\d+)',
  whose: 'user_id',
  params: z.object({ id }),
  find: ({ db }, id) => findUser(db, id),
})
const groups = scope({
  name: 'Group',
  path: '/groups/:id',
  whose: 'group_id',
  params: z.object({ id: text }),
  find: ({ db }, id) => findGroup(db, id),
})
const projects = scope({
  name: 'Project',
  path: '/projects/:id',
  whose: 'project_id',
  params: z.object({ id: text }),
  find: ({ db }, id) => findProject(db, id),
})

export const atEachScope = (declare: (scope: Scope) => Endpoint) =>
  [declare(users), declare(groups), declare(projects)] as const
