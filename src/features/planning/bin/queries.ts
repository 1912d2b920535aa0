import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { withUsers } from '../../identity/users/queries.ts'
import { isAt, type PlanningScope, type ScopeSubject } from '../scopes.ts'
import type { LoadedDeletedItem } from './entity.ts'
import { binKinds } from './kinds.ts'
import type { BinKey, DeletedItem } from './model.ts'

/** Deleted records of the scope that the viewer may restore. */
const restorable = (db: Db, subject: ScopeSubject) =>
  db
    .selectFrom('deleted_items')
    .selectAll()
    .where(isAt(subject, 'deleted_items'))
    .where('state', '=', 'kept')
    .where(
      'kind',
      'in',
      binKinds()
        .filter(({ level }) => subject.level >= level)
        .map(({ key }) => key),
    )

export const deletedItem = (scope: PlanningScope) =>
  child(scope.resource, {
    name: 'Deleted Item',
    key: 'item',
    params: { deleted_item_id: id },
    find: ({ db }, subject, { deleted_item_id }) =>
      restorable(db, subject).where('id', '=', deleted_item_id).executeTakeFirst(),
  })

/** Newest first. */
export async function listDeletedItems(
  db: Db,
  subject: ScopeSubject,
  { kind }: { kind?: BinKey | null | undefined },
  { limit, offset }: PageRequest,
): Promise<Page<LoadedDeletedItem>> {
  let query = restorable(db, subject).orderBy('id', 'desc')
  if (kind) query = query.where('kind', '=', kind)
  const found = await query
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return { items: await withDeleters(db, found.slice(0, limit)), total: offset + found.length, more: true }
}

export const withDeleters = (db: Db, items: readonly DeletedItem[]): Promise<LoadedDeletedItem[]> =>
  withUsers(db, items, { deleted_by: 'deleted_by_id' })

/** The last deleted one: an importer may have given its number to another. */
export const findDeletedByIid = (
  db: Db,
  kind: BinKey,
  project: number,
  iid: number,
): Promise<DeletedItem | undefined> =>
  db
    .selectFrom('deleted_items')
    .selectAll()
    .where('project_id', '=', project)
    .where('kind', '=', kind)
    .where('iid', '=', iid)
    .where('state', '=', 'kept')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
