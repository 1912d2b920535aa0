import { sql } from 'kysely'
import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { SUBSTRING_FROM, contains } from '../../../store/dialect.ts'
import { totalOf } from '../../../store/counts.ts'
import { hotQuery } from '../../../store/hot.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { LoadedUser, Surroundings } from './entity.ts'
import { userPolicy } from './policy.ts'

const userById = hotQuery((db, p: { id: number }) => db.selectFrom('users').selectAll().where('id', '=', p.id))

export async function findUser(db: Db, id: number): Promise<User | null> {
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

/** All digits are an id, never a username. */
export async function findUserByIdOrUsername(db: Db, given: string): Promise<User | null> {
  return /^\d+$/.test(given) ? findUser(db, Number(given)) : findUserByUsername(db, given)
}

/** What someone types to sign in: a username or a primary email, in any case. */
export async function findUserByLogin(db: Db, login: string): Promise<User | null> {
  const wanted = login.trim().toLowerCase()
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where((eb) => eb.or([eb(sql`lower(username)`, '=', wanted), eb('email', '=', wanted)]))
    .executeTakeFirst()
  return user ?? null
}

/** `/users/:id`: anyone may look, unless the instance hides profiles from visitors. */
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

/** `/users/:user_id/…`: the same user, under the name the token families use. */
export const userByUserId = resource({
  name: 'User',
  params: z.object({ user_id: id }),
  policy: userPolicy,
  find: (app, { user_id }, viewer) => user.find(app, { id: user_id } as never, viewer),
})

export async function surroundings(app: App): Promise<Surroundings> {
  const { gravatar_enabled } = await currentSettings(app)
  return { url: app.url, gravatar: gravatar_enabled }
}

const identitiesOf = hotQuery((db, p: { user_id: number }) =>
  db.selectFrom('identities').select(['provider', 'extern_uid']).where('user_id', '=', p.user_id).orderBy('id'),
)

export async function loadUser(db: Db, user: User): Promise<LoadedUser> {
  return { ...user, identities: await identitiesOf(db, { user_id: user.id }) }
}

export async function loadUsers(db: Db, users: User[]): Promise<LoadedUser[]> {
  if (users.length === 0) return []
  const ids = users.map((user) => user.id)
  const identities = await db.selectFrom('identities').selectAll().where('user_id', 'in', ids).orderBy('id').execute()
  return users.map((user) => ({ ...user, identities: identities.filter((one) => one.user_id === user.id) }))
}

export interface UserFilter {
  search?: string | null
  username?: string | null
  provider?: string | null
  extern_uid?: string | null
  active?: boolean | null
  blocked?: boolean | null
  external?: boolean | null
  created_before?: string | null
  created_after?: string | null
}

export async function listUsers(db: Db, viewer: User | null, filter: UserFilter, page: PageWish): Promise<Page<User>> {
  const visible = matching(db, viewer, filter)
  const search = filter.search?.trim()
  if (!search) return { items: await cut(visible, page), total: await total(db, visible) }

  // Whoever is named exactly comes first; the rest follows by id, so no page needs more than its own rows.
  const exact = await visible.where(namedExactly(search)).orderBy('id', 'desc').limit(page.limit).execute()
  if (search.length < SUBSTRING_FROM)
    return { items: exact.slice(page.offset, page.offset + page.limit), total: exact.length }
  const found = visible.where(contains(db, 'users', ['name', 'username', 'email'], search))
  const others =
    exact.length > 0
      ? found.where(
          'id',
          'not in',
          exact.map((user) => user.id),
        )
      : found
  const first = exact.slice(page.offset, page.offset + page.limit)
  const rest = { offset: Math.max(0, page.offset - exact.length), limit: page.limit - first.length }
  const items = rest.limit > 0 ? [...first, ...(await cut(others, rest))] : first
  return { items, total: exact.length + (await total(db, others)) }
}

type UsersQuery = ReturnType<typeof matching>

const cut = (query: UsersQuery, { limit, offset }: { limit: number; offset: number }) =>
  query.orderBy('id', 'desc').limit(limit).offset(offset).execute()

const total = (db: Db, query: UsersQuery) => totalOf(db, ['users'], query)

const namedExactly = (text: string) => {
  const wanted = text.toLowerCase()
  return sql<boolean>`(lower(username) = ${wanted} or email = ${wanted})`
}

function matching(db: Db, viewer: User | null, filter: UserFilter) {
  let query = db.selectFrom('users').selectAll()
  if (filter.username) query = query.where(sql`lower(username)`, '=', filter.username.toLowerCase())
  if (filter.active) query = query.where('state', '=', 'active').where('ghost', '=', false)
  if (filter.blocked) query = query.where('state', 'in', ['blocked', 'ldap_blocked'])
  // Looking someone up by name shows them to everybody; lists do not show external users to ordinary ones.
  if (!viewer?.admin && !filter.username) query = query.where('external', '=', false)
  if (!viewer?.admin) return query

  if (filter.external) query = query.where('external', '=', true)
  if (filter.created_before) query = query.where('created_at', '<=', filter.created_before)
  if (filter.created_after) query = query.where('created_at', '>=', filter.created_after)
  const { provider, extern_uid } = filter
  if (provider && extern_uid) {
    query = query.where('id', 'in', (eb) =>
      eb
        .selectFrom('identities')
        .select('user_id')
        .where('provider', '=', provider)
        .where('extern_uid', '=', extern_uid),
    )
  }
  return query
}
