import { sql } from 'kysely'
import { z } from 'zod'
import type { Caller, Scope } from '../../../api/credentials.ts'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound, unauthenticated } from '../../../errors.ts'
import { totalOf } from '../../../store/counts.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { withUser } from '../users/queries.ts'
import { words } from './entity.ts'
import type { AccessToken, TokenKind } from './model.ts'
import { personalTokenPolicy } from './policy.ts'

const byDigest = hotQuery((db, p: { digest: string }) =>
  db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .select([
      'access_tokens.id',
      'access_tokens.kind',
      'access_tokens.scopes',
      'access_tokens.expires_at',
      'access_tokens.revoked',
      'access_tokens.family_id',
      'access_tokens.rotated',
      'access_tokens.last_used_at',
      'access_tokens.last_used_ips',
      'users.id as user_id',
      'users.version as user_version',
    ])
    .where('access_tokens.digest', '=', p.digest),
)

export const findTokenWithUser = (db: Db, digest: string) => withUser(db, byDigest(db, { digest }))

/** Whether the project or group of a bot is deleted. Its token works again if that is restored. */
export async function isRetired(db: Db, { id }: User): Promise<boolean> {
  const bot = await db
    .selectFrom('resource_bots as b')
    .leftJoin('projects as p', 'p.id', 'b.project_id')
    .leftJoin('namespaces as n', 'n.id', 'b.group_id')
    .select(['p.deleting as project', 'n.deleting as group'])
    .where('b.user_id', '=', id)
    .executeTakeFirst()
  return Boolean(bot?.project) || Boolean(bot?.group)
}

export const scopesFrom = (text: string): Scope[] => words(text) as Scope[]

const privateToken = hotQuery((db, p: { user_id: number }) =>
  db.selectFrom('access_tokens').select('sealed').where('user_id', '=', p.user_id).where('kind', '=', 'private'),
)

export async function sealedPrivateToken(db: Db, user: User): Promise<string | null> {
  const [token] = await privateToken(db, { user_id: user.id })
  return token?.sealed ?? null
}

export async function privateTokenOf(app: App, user: User): Promise<string | null> {
  const sealed = await sealedPrivateToken(app.db, user)
  return sealed && app.vault.open(sealed)
}

export async function findToken(db: Db, id: number, kind: TokenKind): Promise<AccessToken | null> {
  const token = await db
    .selectFrom('access_tokens')
    .selectAll()
    .where('id', '=', id)
    .where('kind', '=', kind)
    .executeTakeFirst()
  return token ?? null
}

/** `/personal_access_tokens/:id`: ordinary users get 401 for tokens of others, whether or not the token exists. */
export const personalToken = resource({
  params: z.object({ id }),
  policy: personalTokenPolicy,
  async find(app, { id }, viewer) {
    const token = await findToken(app.db, id, 'personal')
    const subject = token && { token, viewer }
    if (subject && personalTokenPolicy.read(subject)) return subject
    if (!viewer?.admin) throw unauthenticated()
    return null
  },
})

/**
 * `/personal_access_tokens/self`: the token that the caller presents. A private token, a session and OAuth are no such
 * token.
 */
export async function presentedAccessToken(db: Db, { identity }: Caller): Promise<AccessToken> {
  const kind = identity?.kind
  const token =
    (kind === 'personal' || kind === 'impersonation') && identity?.tokenId !== undefined
      ? await findToken(db, identity.tokenId, kind)
      : null
  if (!token) throw notFound('Personal Access Token')
  return token
}

/** Tokens of one kind, for lists. */
export const tokensOf = (db: Db, kind: TokenKind) => db.selectFrom('access_tokens').selectAll().where('kind', '=', kind)

type TokensQuery = ReturnType<typeof tokensOf>

export type TokenState = 'active' | 'inactive'

export function inState(query: TokensQuery, state: TokenState, today: string): TokensQuery {
  return query.where((eb) => {
    const live = eb.and([
      eb('revoked', '=', false),
      eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', today)]),
    ])
    return state === 'active' ? live : eb.not(live)
  })
}

export const pageOfTokens = (db: Db, query: TokensQuery, page: PageRequest): Promise<Page<AccessToken>> =>
  pageOfQuery(query, page, () => totalOf(db, ['access_tokens'], query))

export const TOKEN_COLUMNS = {
  created: 'created_at',
  expires: 'expires_at',
  last_used: 'last_used_at',
  name: 'name',
} as const

export const TOKEN_SORTS = [
  'created_asc',
  'created_desc',
  'expires_asc',
  'expires_desc',
  'last_used_asc',
  'last_used_desc',
  'name_asc',
  'name_desc',
] as const
export type TokenSort = (typeof TOKEN_SORTS)[number]

export interface TokenFilter {
  user_id?: number | null
  state?: TokenState | null
  revoked?: boolean | null
  search?: string | null
  sort?: TokenSort | null
  created_before?: string | null
  created_after?: string | null
  last_used_before?: string | null
  last_used_after?: string | null
  expires_before?: string | null
  expires_after?: string | null
}

export function listPersonalTokens(
  db: Db,
  filter: TokenFilter,
  today: string,
  page: PageRequest,
): Promise<Page<AccessToken>> {
  return pageOfTokens(db, sorted(matching(db, filter, today), filter.sort), page)
}

function matching(db: Db, filter: TokenFilter, today: string): TokensQuery {
  let query = tokensOf(db, 'personal')
  if (filter.user_id) query = query.where('user_id', '=', filter.user_id)
  if (filter.state) query = inState(query, filter.state, today)
  if (typeof filter.revoked === 'boolean') query = query.where('revoked', '=', filter.revoked)
  if (filter.search) query = query.where(nameContains(filter.search))
  for (const name of ['created', 'expires', 'last_used'] as const) {
    const before = filter[`${name}_before`]
    const after = filter[`${name}_after`]
    if (before) query = query.where(TOKEN_COLUMNS[name], '<=', before)
    if (after) query = query.where(TOKEN_COLUMNS[name], '>=', after)
  }
  return query
}

function nameContains(text: string) {
  return sql<boolean>`lower(name) like ${likePattern(text.toLowerCase())} escape '\\'`
}

/** Tokens without the date come last in either direction; the id breaks ties. */
function sorted(query: TokensQuery, sort: TokenSort | null | undefined): TokensQuery {
  if (!sort) return query.orderBy('id')
  const direction = sort.endsWith('_desc') ? 'desc' : 'asc'
  const column = TOKEN_COLUMNS[sort.replace(`_${direction}`, '') as keyof typeof TOKEN_COLUMNS]
  return query.orderBy(column, (order) => order[direction]().nullsLast()).orderBy('id', direction)
}
