/**
 * Records of one user have two scopes: `/user/…` for the user's own records, and `/users/:id/…` for administrators. A
 * family declares each endpoint once, for both scopes, on records that are children of their owner.
 */
import { z } from 'zod'
import { policy, resource, type Endpoint } from '../../api/endpoint.ts'
import { id } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { findUser } from './users/queries.ts'

interface Owned {
  readonly owner: User
  readonly viewer: User | null
}

const ownedPolicy = policy<Owned>()({
  read: ({ owner, viewer }) => viewer !== null && (viewer.admin || viewer.id === owner.id),
})

interface ScopePlan {
  path: '/user' | '/users/:id(\\d+)'
  allow: 'signed_in' | 'administrator'
  /** Used in the summaries of endpoints. */
  whose: string
  params: z.ZodObject
  findOwner(app: App, params: Record<string, unknown>, viewer: User | null): Promise<User | null>
}

function scope({ params, findOwner, ...plan }: ScopePlan) {
  return {
    ...plan,
    /** The user: lists and creation act on this resource, and each record is a child of it. */
    owner: resource({
      name: 'User',
      params,
      policy: ownedPolicy,
      async find(app, given, viewer) {
        const owner = await findOwner(app, given, viewer)
        return owner && { owner, viewer }
      },
    }),
  }
}

export type Scope = ReturnType<typeof scope>

export const ownScope = scope({
  path: '/user',
  allow: 'signed_in',
  whose: 'of the signed-in user',
  params: z.object({}),
  findOwner: async (_app, _params, viewer) => viewer,
})

export const administratorsScope = scope({
  path: '/users/:id(\\d+)',
  allow: 'administrator',
  whose: 'of a user',
  params: z.object({ id }),
  findOwner: (app, params) => findUser(app.db, params.id as number),
})

/** `export const [listOwn, list] = atOwnAndUser((scope) => endpoint({ path: `${scope.path}/keys`, … }))` */
export const atOwnAndUser = (declare: (scope: Scope) => Endpoint) =>
  [declare(ownScope), declare(administratorsScope)] as const
