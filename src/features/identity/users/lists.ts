/** Lists of people. */
import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { SUBSTRING_FROM, binaryText, substring } from '../../../store/dialect.ts'
import { leading, longList, type Sort } from '../../../store/lists.ts'
import type { RowState } from '../../../store/versions.ts'
import { attributeFilter, hasAttributes, type AttributeOptions, type AttributeFilter } from '../custom-attributes.ts'
import { OPEN_NAMES, userRows } from './queries.ts'

export interface UserFilter extends AttributeOptions {
  search?: string | null
  username?: string | null
  provider?: string | null
  extern_uid?: string | null
  active?: boolean | null
  blocked?: boolean | null
  pending_approval?: boolean | null
  external?: boolean | null
  created_before?: string | null
  created_after?: string | null
  public_email?: string | null
  humans?: boolean | null
  without_project_bots?: boolean | null
  exclude_active?: boolean | null
  exclude_external?: boolean | null
  exclude_humans?: boolean | null
  exclude_internal?: boolean | null
  /** Filters for administrators only. */
  two_factor?: 'enabled' | 'disabled' | null
  admins?: boolean | null
  without_projects?: boolean | null
  skip_ldap?: boolean | null
}

export const USER_ORDERS = ['id', 'name', 'username', 'created_at', 'updated_at'] as const

interface UserOrder {
  order_by?: (typeof USER_ORDERS)[number] | null
  sort?: Sort | null
}

export async function listUsers(
  db: Db,
  viewer: User | null,
  { order_by, sort, ...filter }: UserFilter & UserOrder,
  page: PageRequest,
): Promise<Page<User>> {
  const { items, total } = await listStates(db, visibleTo(viewer, filter), { order_by, sort }, page)
  const rows = await userRows(db, items)
  return { items: items.flatMap(({ id }) => rows.get(id) ?? []), total }
}

async function listStates(
  db: Db,
  { search, byAddress, ...visible }: ReturnType<typeof visibleTo>,
  order: UserOrder,
  page: PageRequest,
): Promise<Page<RowState>> {
  const term = search?.trim()
  if (!term) return users(db, visible, page, order)

  // The exact match comes first. The other matches follow by id, whatever order is requested, so no page reads more
  // than its rows.
  const named = { ...visible, exactly: term.toLowerCase() }
  const exact = await users(db, named, page)
  if (Array.from(term).length < SUBSTRING_FROM) return exact
  const rest = { limit: page.limit - exact.items.length, offset: Math.max(0, page.offset - exact.total) }
  const part = byAddress ? { others: substring(db, term) } : { othersOpenly: substring(db, term, OPEN_NAMES) }
  const others = await users(db, { ...named, ...part }, rest)
  const items = exact.items.length === 0 ? others.items : [...exact.items, ...others.items]
  return { items, total: exact.total + others.total }
}

/** Filters that apply only if true. */
const SWITCHES = [
  'active',
  'blocked',
  'pending_approval',
  'humans',
  'without_project_bots',
  'exclude_active',
  'exclude_external',
  'exclude_humans',
  'exclude_internal',
  'admins',
  'without_projects',
  'skip_ldap',
] as const

/**
 * The filters that apply for this viewer. Ordinary users see neither external users nor users who are pending approval.
 * Administrator filters of other callers were rejected before.
 */
function visibleTo(viewer: User | null, filter: UserFilter) {
  const { external, username, search, two_factor, provider = null, extern_uid = null, public_email } = filter
  const on = SWITCHES.filter((name) => filter[name])
  const common = {
    // A visitor's search must not reveal whose an address is.
    search: viewer ? search : null,
    // Matching by parts would reveal a hidden address letter by letter.
    byAddress: viewer?.admin === true,
    username: username?.toLowerCase(),
    public_email: public_email?.toLowerCase(),
    created_before: filter.created_before,
    created_after: filter.created_after,
    ...Object.fromEntries(on.map((name) => [name, true as const])),
  }
  if (!viewer?.admin) return { ...common, external: username ? null : false, let_in: true as const }
  // Both halves of an identity are needed to filter.
  const identity = provider !== null && extern_uid !== null && { provider, extern_uid }
  return {
    ...common,
    ...identity,
    ...attributeFilter(viewer, filter),
    ...(two_factor && { second_factor: two_factor === 'enabled' }),
    external: external || null,
  }
}

interface Filter extends Omit<UserFilter, 'search' | 'two_factor' | keyof AttributeOptions>, AttributeFilter {
  /** A username or a primary email, in lower case. */
  exactly?: string
  /** Other users whose name, username or address contains this text. */
  others?: string
  /** The same, in public fields only. */
  othersOpenly?: string
  /**
   * Excludes users who are pending approval: the name that a stranger chose is not shown before an administrator has
   * seen it.
   */
  let_in?: true
  second_factor?: boolean
}

const isActive = sql<boolean>`users.state = 'active' and not users.ghost`

/** Every list of users; `listUsers` decides which rows a viewer sees. */
export const users = longList<Filter, 'users', (typeof USER_ORDERS)[number], 'id' | 'version'>({
  table: 'users',
  columns: ['id', 'version'],
  facets: true,
  counted: ['users'],
  conditions: {
    username: { test: (filter) => sql`lower(users.username) = ${filter.username}` },
    public_email: {
      test: (filter, { hidden }) => sql`${hidden('public_email')} = ${filter.public_email}`,
      set: (filter) => sql`select id from users where public_email = ${filter.public_email}`,
      counted: ['user_accounts'],
    },
    extern_uid: {
      set: ({ provider, extern_uid }) =>
        sql`select user_id from identities where provider = ${provider} and extern_uid = ${extern_uid}`,
      counted: ['identities'],
    },
    exactly: {
      test({ exactly }, { given }) {
        const named = sql<boolean>`(lower(users.username) = ${exactly} or users.email = ${exactly})`
        return given('others') || given('othersOpenly') ? sql`not ${named}` : named
      },
      set: ({ exactly }, { given }) =>
        given('others') || given('othersOpenly')
          ? undefined
          : sql`select id from users where lower(username) = ${exactly} union
              select id from users where email = ${exactly}`,
    },
    attributes: hasAttributes('users', 'user_id'),
    others: { search: [...OPEN_NAMES, 'email'] },
    othersOpenly: { search: OPEN_NAMES },
    admins: {
      test: (_, { hidden }) => sql`${hidden('admin')}`,
      set: () => sql`select id from users where admin`,
      counted: ['user_accounts'],
    },
    exclude_humans: {
      test: (_, { hidden }) => sql`(${hidden('bot')} or ${hidden('ghost')})`,
      set: () => sql`select id from users where bot union all select id from users where ghost`,
      counted: ['user_accounts'],
    },
    second_factor: {
      test: ({ second_factor }, at) => sql`${leading(at, 'two_factor_enabled', 'id')} = ${second_factor}`,
      set: ({ second_factor }) => sql`select id from users where two_factor_enabled = ${second_factor}`,
      counted: ['user_accounts'],
    },
    active: {
      facet: true,
      test: (_, at) => sql`${leading(at, 'state', 'id')} = 'active' and not ${leading(at, 'ghost', 'id')}`,
    },
    blocked: { facet: true, test: (_, at) => sql`${leading(at, 'state', 'id')} in ('blocked', 'ldap_blocked')` },
    pending_approval: {
      facet: true,
      test: (_, at) => sql`${leading(at, 'state', 'id')} = 'blocked_pending_approval'`,
    },
    let_in: { facet: true, test: (_, { column }) => sql`${column('state')} <> 'blocked_pending_approval'` },
    external: { facet: true, test: ({ external }, at) => sql`${leading(at, 'external', 'id')} = ${external}` },
    exclude_external: { facet: true, test: (_, { hidden }) => sql`not ${hidden('external')}` },
    exclude_active: { facet: true, test: () => sql`not (${isActive})` },
    exclude_internal: { facet: true, test: (_, { hidden }) => sql`not ${hidden('ghost')}` },
    humans: {
      test: (_, { hidden }) => sql`not ${hidden('bot')} and not ${hidden('ghost')}`,
      counted: ['user_accounts'],
    },
    without_project_bots: { test: (_, { hidden }) => sql`not ${hidden('bot')}`, counted: ['user_accounts'] },
    without_projects: {
      test: () => sql`not exists (select 1 from project_authorizations t where t.user_id = users.id)`,
      counted: ['project_authorizations'],
    },
    skip_ldap: {
      test: () => sql`not exists (select 1 from identities i where i.user_id = users.id and i.provider like 'ldap%')`,
      counted: ['identities'],
    },
    created_before: { test: (filter, at) => sql`${leading(at, 'created_at')} <= ${filter.created_before}` },
    created_after: { test: (filter, at) => sql`${leading(at, 'created_at')} >= ${filter.created_after}` },
  },
  orders: {
    id: null,
    name: (db) => sql.raw(binaryText(db, 'users.name')),
    username: (db) => sql.raw(binaryText(db, 'users.username')),
    created_at: () => sql.ref('users.created_at'),
    updated_at: () => sql.ref('users.updated_at'),
  },
  /** Newest first. Chosen by the index of the active filter, so that no page reads rows it does not show. */
  usual: (given) => {
    const isByTime = given('created_before') || given('created_after')
    const isSearched = given('others') || given('othersOpenly')
    return [isByTime && !isSearched ? 'created_at' : 'id', 'desc']
  },
})
