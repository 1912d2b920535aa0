import { sql } from 'kysely'
import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { Db, Row } from '../../../store/database.ts'
import { SUBSTRING_FROM, foundId, substring, whereContains } from '../../../store/dialect.ts'
import { hotList } from '../../../store/lists.ts'
import type { LoadedNamespace } from './entity.ts'
import { namespacePolicy } from './policy.ts'

type Namespace = Row<'namespaces'>

const fullPath = sql<string>`lower(full_path)`

/** All digits are an id, never a path. */
async function findNamespace(db: Db, given: string): Promise<Namespace | null> {
  const namespaces = db.selectFrom('namespaces').selectAll()
  const isId = /^\d+$/.test(given)
  // An id of more digits than a number holds is nobody's.
  if (isId && !Number.isSafeInteger(Number(given))) return null
  const wanted = isId
    ? namespaces.where('id', '=', Number(given))
    : namespaces.where(fullPath, '=', given.toLowerCase())
  return (await wanted.executeTakeFirst()) ?? null
}

export const namespace = resource({
  name: 'Namespace',
  params: z.object({ id: text }),
  policy: namespacePolicy,
  async find(app, { id }, viewer) {
    const found = await findNamespace(app.db, id)
    return found && { namespace: found, viewer }
  },
})

export async function loadNamespaces(db: Db, namespaces: Namespace[]): Promise<LoadedNamespace[]> {
  const ids = namespaces.map(({ owner_id }) => owner_id).filter((id) => id !== null)
  const owners = ids.length > 0 ? await db.selectFrom('users').selectAll().where('id', 'in', ids).execute() : []
  const byId = new Map(owners.map((owner) => [owner.id, owner]))
  return namespaces.map((row) => ({ ...row, owner: byId.get(row.owner_id ?? 0) ?? null }))
}

export interface NamespaceFilter {
  search?: string | null
  owned_only?: boolean | null
  top_level_only?: boolean | null
}

/** By id, oldest first. */
export function listNamespaces(
  db: Db,
  viewer: User,
  filter: NamespaceFilter,
  page: PageWish,
): Promise<Page<Namespace>> {
  const wanted = filter.search?.trim() ?? ''
  return namespaces(
    db,
    {
      ...(wanted.length >= SUBSTRING_FROM && { containing: substring(db, wanted) }),
      ...(wanted !== '' && wanted.length < SUBSTRING_FROM && { called: wanted.toLowerCase() }),
      ...((!viewer.admin || filter.owned_only) && { owner_id: viewer.id }),
      ...(filter.top_level_only && { top_level_only: true }),
    },
    page,
  )
}

interface Filter {
  containing?: string
  called?: string
  owner_id?: number
  top_level_only?: boolean
}

const namespaces = hotList<Filter, 'namespaces'>({
  table: 'namespaces',
  counted: ['namespaces'],
  facets: [],
  narrow: (query, filter, given, db) =>
    query
      .$if(given('owner_id'), (query) => query.where('owner_id', '=', filter.owner_id!))
      .$if(given('top_level_only'), (query) => query.where('parent_id', 'is', null))
      .$if(given('called'), (query) => query.where(fullPath, '=', filter.called!))
      .$if(given('containing'), (query) =>
        whereContains(db, query, 'namespaces', ['name', 'path'], filter.containing!),
      ),
  order: (query, given, db) => query.orderBy(given('containing') ? foundId(db, 'namespaces') : 'namespaces.id'),
})

const SUGGESTIONS_TRIED = 100

export interface PathWish {
  path: string
  parent_id?: number | null
}

/** Whether a path is taken, in a parent the viewer can see or at the top, and the first free one like it. */
export async function lookUpPath(app: App, viewer: User, { path, parent_id }: PathWish) {
  const parent = parent_id ? await findNamespace(app.db, String(parent_id)) : null
  if (parent_id && !(parent && namespacePolicy.read({ namespace: parent, viewer }))) throw notFound('Namespace')

  const candidates = [path, ...Array.from({ length: SUGGESTIONS_TRIED }, (_, n) => `${path}${n + 1}`)]
  const within = (candidate: string) => (parent ? `${parent.full_path}/${candidate}` : candidate).toLowerCase()
  const taken = await app.db
    .selectFrom('namespaces')
    .select(fullPath.as('full_path'))
    .where(fullPath, 'in', candidates.map(within))
    .execute()
  const isTaken = (candidate: string) => taken.some(({ full_path }) => full_path === within(candidate))
  const free = candidates.find((candidate) => !isTaken(candidate))
  return { exists: isTaken(path), suggests: isTaken(path) && free ? [free] : [] }
}
