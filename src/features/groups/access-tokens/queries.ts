import { sql, type RawBuilder } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { SourceColumns } from '../../access/members/model.ts'
import type { SourceScope } from '../../access/scopes.ts'
import { TOKEN_COLUMNS, type TokenSort } from '../../identity/tokens/queries.ts'
import type { LoadedToken } from './entity.ts'

const tokensOf = (db: Db, { group_id, project_id }: SourceColumns) =>
  db
    .selectFrom('access_tokens')
    .innerJoin('resource_bots as b', 'b.user_id', 'access_tokens.user_id')
    .leftJoin('members as m', (join) =>
      join
        .onRef('m.user_id', '=', 'b.user_id')
        .on(group_id === null ? sql<boolean>`m.project_id = b.project_id` : sql<boolean>`m.group_id = b.group_id`),
    )
    .selectAll('access_tokens')
    .select('m.access_level')
    .where('access_tokens.kind', '=', 'personal')
    .where(group_id === null ? 'b.project_id' : 'b.group_id', '=', group_id ?? project_id)

export interface TokenFilter {
  readonly state?: 'active' | 'inactive' | null | undefined
  readonly revoked?: boolean | null | undefined
  readonly search?: string | null | undefined
  readonly sort?: TokenSort | null | undefined
  readonly created_before?: string | null | undefined
  readonly created_after?: string | null | undefined
  readonly last_used_before?: string | null | undefined
  readonly last_used_after?: string | null | undefined
  readonly expires_before?: string | null | undefined
  readonly expires_after?: string | null | undefined
}

const columnOf = (name: keyof typeof TOKEN_COLUMNS) => sql.ref<string>(`access_tokens.${TOKEN_COLUMNS[name]}`)

const within = (filter: TokenFilter): RawBuilder<boolean>[] =>
  (['created', 'last_used', 'expires'] as const).flatMap((name) => {
    const [before, after] = [filter[`${name}_before`], filter[`${name}_after`]]
    return [
      ...(before ? [sql<boolean>`${columnOf(name)} <= ${before}`] : []),
      ...(after ? [sql<boolean>`${columnOf(name)} >= ${after}`] : []),
    ]
  })

/** Tokens without the date come last in either direction. */
function orderOf(sort: TokenSort | null | undefined): RawBuilder<unknown> {
  if (!sort) return sql`access_tokens.id desc`
  const way = sort.endsWith('_desc') ? 'desc' : 'asc'
  const column = columnOf(sort.replace(`_${way}`, '') as keyof typeof TOKEN_COLUMNS)
  return sql`${column} ${sql.raw(way)} nulls last, access_tokens.id ${sql.raw(way)}`
}

/** Newest first, unless sorted. */
export function listTokens(
  db: Db,
  at: SourceColumns,
  { state, revoked, search, ...filter }: TokenFilter,
  today: string,
  page: PageRequest,
): Promise<Page<LoadedToken>> {
  const live = sql<boolean>`(not access_tokens.revoked
    and (access_tokens.expires_at is null or access_tokens.expires_at > ${today}))`
  const found = tokensOf(db, at)
    .$if(Boolean(state), (query) => query.where(state === 'active' ? live : sql<boolean>`not ${live}`))
    .$if(typeof revoked === 'boolean', (query) => query.where('access_tokens.revoked', '=', revoked!))
    .$if(Boolean(search), (query) =>
      query.where(sql<boolean>`lower(access_tokens.name) like lower(${likePattern(search!)}) escape '\\'`),
    )
    .where((eb) => eb.and(within(filter)))
    .orderBy(orderOf(filter.sort) as never)
  return pageOfQuery(found, page)
}

/** `…/access_tokens/:token_id` */
export const resourceToken = ({ resource }: SourceScope) =>
  child(resource, {
    key: 'token',
    params: { token_id: id },
    find: ({ db }, { at }, { token_id }) =>
      tokensOf(db, at).where('access_tokens.id', '=', token_id).executeTakeFirst() as Promise<LoadedToken | undefined>,
  })

export async function isBot(db: Db, user: number): Promise<boolean> {
  const found = await db.selectFrom('resource_bots').select('user_id').where('user_id', '=', user).executeTakeFirst()
  return found !== undefined
}
