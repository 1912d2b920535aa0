/** Users, groups and projects have custom attributes. */
import { child, publicPolicy } from '../../../api/endpoint.ts'
import { scope, type ResourceScope } from '../../../api/resource-scopes.ts'
import { filledText } from '../../../api/wire.ts'
import { user } from '../../identity/users/queries.ts'
import { project } from '../../projects/projects/queries.ts'
import { group } from '../groups/queries.ts'
import type { AttributeOwner } from './service.ts'

function attributeScope<Kind extends string, Path extends `/${string}`>({
  kind,
  path,
  resource,
}: ResourceScope<AttributeOwner, typeof publicPolicy, Kind, Path>) {
  const attribute = child(resource, {
    key: 'attribute',
    params: { key: filledText },
    find: ({ db }, { whose, id }, { key }) =>
      db
        .selectFrom('custom_attributes')
        .select(['key', 'value'])
        .where(whose, '=', id)
        .where('key', '=', key)
        .executeTakeFirst(),
  })
  return { kind, path, resource, attribute }
}

const ofUser = scope({
  kind: 'user',
  path: '/users/:id(\\d+)',
  on: user,
  policy: publicPolicy,
  to: ({ user }): AttributeOwner => ({ whose: 'user_id', id: user.id }),
})
const ofGroup = scope({
  kind: 'group',
  path: '/groups/:id',
  on: group,
  policy: publicPolicy,
  to: ({ group }): AttributeOwner => ({ whose: 'group_id', id: group.id }),
})
const ofProject = scope({
  kind: 'project',
  path: '/projects/:id',
  on: project,
  policy: publicPolicy,
  to: ({ project }): AttributeOwner => ({ whose: 'project_id', id: project.id }),
})

export const attributeScopes = [attributeScope(ofUser), attributeScope(ofGroup), attributeScope(ofProject)] as const
