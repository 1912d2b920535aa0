/**
 * Records of one user are served at two scopes: `/user/…`, where users find their own, and `/users/:id/…`, where
 * administrators find those of any user.
 */
import { z } from 'zod'
import { policy, publicPolicy, resource } from '../../api/endpoint.ts'
import { scope } from '../../api/resource-scopes.ts'
import type { User } from '../../context.ts'
import { user } from './users/queries.ts'

interface Owned {
  readonly owner: User
  readonly viewer: User | null
}

const ownedPolicy = policy<Owned>()({
  read: ({ owner, viewer }) => viewer !== null && (viewer.admin || viewer.id === owner.id),
})

const signedInUser = resource({
  name: 'User',
  params: z.object({}),
  policy: publicPolicy,
  find: async (_app, _params, viewer) => viewer,
})

export const ownScope = {
  ...scope({
    kind: 'own',
    path: '/user',
    on: signedInUser,
    policy: ownedPolicy,
    to: (viewer): Owned => ({ owner: viewer, viewer }),
  }),
  allow: 'signed_in',
  /** For summaries. */
  whose: 'of the signed-in user',
} as const

export const administratorsScope = {
  ...scope({
    kind: 'user',
    path: '/users/:id(\\d+)',
    on: user,
    policy: ownedPolicy,
    to: ({ user, viewer }): Owned => ({ owner: user, viewer }),
  }),
  allow: 'administrator',
  whose: 'of a user',
} as const

export const userScopes = [ownScope, administratorsScope] as const
export type UserScope = (typeof userScopes)[number]
