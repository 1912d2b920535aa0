/**
 * What belongs to one person stands at two mounts: `/user/…`, where they find their own, and `/users/:id/…`, where
 * administrators find anybody's. A family declares each of its endpoints once, for both mounts, on records that are
 * children of their owner.
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
  /** For summaries. */
  whose: string
  params: z.ZodObject
  findOwner(app: App, params: Record<string, unknown>, viewer: User | null): Promise<User | null>
}

function scope({ params, findOwner, ...plan }: ScopePlan) {
  return {
    ...plan,
    /** The person themselves: what lists and creation act on, and the parent of each record. */
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

/** `export const [listOwn, list] = atBothMounts((mount) => endpoint({ path: `${mount.path}/keys`, … }))` */
export const atOwnAndUser = (declare: (scope: Scope) => Endpoint) =>
  [declare(ownScope), declare(administratorsScope)] as const
