/**
 * What belongs to one person stands at two mounts: `/user/…`, where they find their own, and `/users/:id/…`, where
 * administrators find anybody's. A family declares each of its endpoints once, for both mounts, on records that are only
 * ever looked up among their owner's.
 */
import { z } from 'zod'
import { policy, resource, type Endpoint } from '../../api/endpoint.ts'
import { id } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { findUser } from './users/queries.ts'

interface Owned {
  readonly owner: User
  readonly viewer: User | null
}

const belongingsPolicy = policy<Owned>()({
  read: ({ owner, viewer }) => viewer !== null && (viewer.admin || viewer.id === owner.id),
})

interface MountPlan {
  path: '/user' | '/users/:id(\\d+)'
  allow: 'signed_in' | 'administrator'
  /** For summaries. */
  whose: string
  params: z.ZodObject
  findOwner(app: App, params: Record<string, unknown>, viewer: User | null): Promise<User | null>
}

function mount({ params, findOwner, ...plan }: MountPlan) {
  return {
    ...plan,
    /** The person themselves: what lists and creation act on. */
    owner: resource({
      name: 'User',
      params,
      policy: belongingsPolicy,
      async find(app, given, viewer) {
        const owner = await findOwner(app, given, viewer)
        return owner && { owner, viewer }
      },
    }),
    /** One record of that person: what the rest acts on. */
    record: <R>({ name, param, find }: Belonging<R>) =>
      resource({
        name,
        params: params.extend({ [param]: id }),
        policy: belongingsPolicy,
        async find(app, given, viewer) {
          const owner = await findOwner(app, given, viewer)
          if (!owner) throw notFound('User')
          const record = await find(app.db, owner, given[param] as number)
          return record && { owner, viewer, record }
        },
      }),
  }
}

/** A kind of record: its name in a 404, its id in the path, and how it is found among its owner's. */
export interface Belonging<R> {
  name: string
  param: string
  find(db: Db, owner: User, id: number): Promise<R | null | undefined>
}

export type Mount = ReturnType<typeof mount>

export const ownMount = mount({
  path: '/user',
  allow: 'signed_in',
  whose: 'of the signed-in user',
  params: z.object({}),
  findOwner: async (_app, _params, viewer) => viewer,
})

const administratorsMount = mount({
  path: '/users/:id(\\d+)',
  allow: 'administrator',
  whose: 'of a user',
  params: z.object({ id }),
  findOwner: (app, params) => findUser(app.db, params.id as number),
})

/** `export const [listOwn, list] = atBothMounts((mount) => endpoint({ path: `${mount.path}/keys`, … }))` */
export const atBothMounts = (declare: (mount: Mount) => Endpoint) =>
  [declare(ownMount), declare(administratorsMount)] as const
