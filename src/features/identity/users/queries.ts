import { sql } from 'kysely'
import { z } from 'zod'
import { child, publicPolicy, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import { cachedRows, type RowState } from '../../../store/versions.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { LoadedUser, Surroundings } from './entity.ts'
import { isVisibleTo, userPolicy } from './policy.ts'

export const userRows = cachedRows('users')

interface Credential {
  readonly user_id: number
  readonly user_version: number
}

/** The row found by a secret, with its user. */
export function withUser<C extends Credential>(
  db: Db,
  found: MaybePromise<C[]>,
): MaybePromise<(C & { user: User }) | null> {
  return andThen(found, ([one]) => {
    if (!one) return null
    const { user_id: id, user_version: version } = one
    return andThen(userRows(db, [{ id, version }]), (users) => {
      const user = users.get(id)
      return user ? { ...one, user } : null
    })
  })
}

const userById = hotQuery((db, p: { id: number }) => db.selectFrom('users').selectAll().where('id', '=', p.id))

export async function findUser(db: Db, id: number): Promise<User | null> {
  if (!Number.isSafeInteger(id)) return null
  const [user] = await userById(db, { id })
  return user ?? null
}

export async function findUserByUsername(db: Db, username: string): Promise<User | null> {
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where(sql`lower(username)`, '=', username.toLowerCase())
    .executeTakeFirst()
  return user ?? null
}

const usersById = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(inIdList(db, 'id', p.ids)),
)

const statesById = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .select(['id', 'version'])
    .where(inIdList(db, 'id', p.ids)),
)

/** The current states of these users. `userRows` has the rows. */
export function userStates(db: Db, given: readonly (number | null | undefined)[]): Lookup<readonly RowState[]> {
  const ids = [...new Set(given)].filter((id) => typeof id === 'number')
  return lookup(statesById, ids.length === 0 ? null : { ids: idList(db, ids) }, (rows) => rows)
}

type WithUsers<R, C extends Record<string, keyof R>> = R & {
  readonly [name in keyof C]: R[C[name]] extends number ? User : User | null
}

/** A page of rows with the users they refer to, loaded by one query: `withUsers(db, rows, { author: 'author_id' })`. */
export async function withUsers<R, const C extends Record<string, keyof R>>(
  db: Db,
  rows: readonly R[],
  columns: C,
): Promise<WithUsers<R, C>[]> {
  const named = Object.entries(columns)
  const ids = new Set(rows.flatMap((row) => named.map(([, column]) => row[column] as number | null | undefined)))
  const userIds = [...ids].filter((id) => typeof id === 'number')
  const users = userIds.length === 0 ? [] : await usersById(db, { ids: idList(db, userIds) })
  return joinUsers(rows, columns, new Map(users.map((user) => [user.id, user])))
}

/** The same with users that were read before. */
export function joinUsers<R, const C extends Record<string, keyof R>>(
  rows: readonly R[],
  columns: C,
  users: ReadonlyMap<unknown, User>,
): WithUsers<R, C>[] {
  const named = Object.entries(columns)
  const people = (row: R) => named.map(([name, column]) => [name, users.get(row[column]) ?? null])
  return rows.map((row) => ({ ...row, ...Object.fromEntries(people(row)) }))
}

/** All digits are an id, never a username. */
export async function findUserByIdOrUsername(db: Db, given: string): Promise<User | null> {
  return /^\d+$/.test(given) ? findUser(db, Number(given)) : findUserByUsername(db, given)
}

/** Finds a user by the login they type: a username or a primary email, regardless of case. */
export async function findUserByLogin(db: Db, login: string): Promise<User | null> {
  const normalised = login.trim().toLowerCase()
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where((eb) => eb.or([eb(sql`lower(username)`, '=', normalised), eb('email', '=', normalised)]))
    .executeTakeFirst()
  return user ?? null
}

/** `/users/:id`: visible to everybody, unless the instance hides profiles from visitors. */
export const user = resource({
  name: 'User',
  params: z.object({ id }),
  policy: userPolicy,
  async find(app, { id }, viewer) {
    const found = await findUser(app.db, id)
    if (!found) return null
    const { restricted_visibility_levels } = await currentSettings(app)
    return { user: found, viewer, hiddenFromVisitors: restricted_visibility_levels.includes('public') }
  },
})

/** `/users/:user_id/…`: the same user, with the parameter name of the token families. */
export const userByUserId = resource({
  name: 'User',
  params: z.object({ user_id: id }),
  policy: userPolicy,
  find: (app, { user_id }, viewer) => user.find(app, { id: user_id }, viewer),
})

/** `/users/:user_id/…`: by id or username, hidden like the profile. */
export const profile = resource({
  name: 'User',
  params: z.object({ user_id: text }),
  policy: userPolicy,
  async find(app, { user_id }, viewer) {
    const found = await findUserByIdOrUsername(app.db, user_id)
    return found && user.find(app, { id: found.id }, viewer)
  },
})

/** `/users/:id/identities/:provider` */
export const identity = child(user, {
  name: 'Identity',
  key: 'identity',
  params: { provider: text },
  find: (app, { user }, { provider }) =>
    app.db
      .selectFrom('identities')
      .selectAll()
      .where('user_id', '=', user.id)
      .where('provider', '=', provider)
      .executeTakeFirst(),
})

/** The same by id or username, for lists of the user's records: each record decides its own visibility. */
export const userByIdOrUsername = resource({
  name: 'User',
  params: z.object({ user_id: text }),
  policy: publicPolicy,
  async find(app, { user_id }, viewer) {
    const user = await findUserByIdOrUsername(app.db, user_id)
    return user && isVisibleTo(user, viewer) ? { user } : null
  },
})

export async function surroundings(app: App): Promise<Surroundings> {
  const { gravatar_enabled } = await currentSettings(app)
  return { url: app.url, gravatar: gravatar_enabled }
}

/** A limit above the number of all projects cannot be reached, so projects are counted only for lower limits. */
const isFull = sql<number>`case when users.projects_limit > 0
  and users.projects_limit <= (select sum(total) from projects_facets)
  and users.projects_limit <= (select count(*) from projects join namespaces on namespaces.id = projects.namespace_id
    where namespaces.owner_id = users.id and not projects.deleting) then 1 else 0 end`

/** One row per identity, or one row for a user without identities. */
const relations = hotQuery((db, p: { id?: number; ids?: string }, given) =>
  db
    .selectFrom('users')
    .leftJoin('identities', 'identities.user_id', 'users.id')
    .leftJoin('namespaces', 'namespaces.owner_id', 'users.id')
    .select(['users.id', 'identities.provider', 'identities.extern_uid', isFull.as('full')])
    .select('namespaces.id as namespace_id')
    .$if(given('id'), (query) => query.where('users.id', '=', p.id!))
    .$if(given('ids'), (query) => query.where(inIdList(db, 'users.id', p.ids!)))
    .orderBy('identities.id'),
)

function withRelations(user: User, rows: Awaited<ReturnType<typeof relations>>): LoadedUser {
  const identities = rows.flatMap(({ provider, extern_uid }) =>
    provider === null || extern_uid === null ? [] : [{ provider, extern_uid }],
  )
  return { ...user, identities, isFull: rows[0]?.full === 1, namespace_id: rows[0]?.namespace_id ?? null }
}

export async function loadUser(db: Db, user: User): Promise<LoadedUser> {
  return withRelations(user, await relations(db, { id: user.id }))
}

export async function loadUsers(db: Db, users: readonly User[]): Promise<LoadedUser[]> {
  if (users.length === 0) return []
  const ids = users.map(({ id }) => id)
  const byUser = Map.groupBy(await relations(db, { ids: idList(db, ids) }), ({ id }) => id)
  return users.map((user) => withRelations(user, byUser.get(user.id) ?? []))
}

/** Public name columns, which everybody can see and search. */
export const OPEN_NAMES: readonly string[] = ['name', 'username']
