import { batchesOf } from '../../../lib/async/batches.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'

export type LfsObject = Row<'lfs_objects'>

const objectsOf = (db: Db, projectId: number) =>
  db
    .selectFrom('lfs_objects as o')
    .innerJoin('lfs_object_projects as link', 'link.lfs_object_id', 'o.id')
    .selectAll('o')
    .where('link.project_id', '=', projectId)

/** Finds only objects that the project links. Knowing an id grants no access. */
export async function findLfsObject(db: Db, projectId: number, oid: string): Promise<LfsObject | null> {
  return (await objectsOf(db, projectId).where('o.oid', '=', oid).executeTakeFirst()) ?? null
}

/** The objects among these ids that the project has. */
export async function findLfsObjects(
  db: Db,
  projectId: number,
  oids: readonly string[],
): Promise<Map<string, LfsObject>> {
  if (oids.length === 0) return new Map()
  const found = await objectsOf(db, projectId).where('o.oid', 'in', oids).execute()
  return new Map(found.map((object) => [object.oid, object]))
}

const OIDS_A_QUERY = 500

/** Whether the project has all of these objects. */
export async function hasLfsObjects(db: Db, projectId: number, oids: readonly string[]): Promise<boolean> {
  for (const some of batchesOf(oids, OIDS_A_QUERY)) {
    if ((await findLfsObjects(db, projectId, some)).size < some.length) return false
  }
  return true
}

const locksOf = (db: Db, projectId: number) =>
  db
    .selectFrom('lfs_locks as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .selectAll('l')
    .select('u.username')
    .where('l.project_id', '=', projectId)

/** A lock with the username of its owner. */
export type LfsLock = Row<'lfs_locks'> & { readonly username: string }

export async function findLock(
  db: Db,
  projectId: number,
  by: { id: number } | { path: string },
): Promise<LfsLock | null> {
  const query = locksOf(db, projectId)
  const lock = await (
    'id' in by ? query.where('l.id', '=', by.id) : query.where('l.path', '=', by.path)
  ).executeTakeFirst()
  return lock ?? null
}

const allLocks = hotQuery((db, p: { project: number }) => locksOf(db, p.project).orderBy('l.id'))

/** The locks of other users, by path. */
export async function locksOfOthers(db: Db, project: number, person: number | null): Promise<Map<string, LfsLock>> {
  const locks = await allLocks(db, { project })
  return new Map(locks.filter(({ user_id }) => user_id !== person).map((lock) => [lock.path, lock]))
}

export interface LockFilter {
  readonly path?: string | undefined
  readonly id?: number | undefined
  /** The id of the first lock of the page. */
  readonly from?: number | undefined
  readonly limit: number
}

/** Sorted by id. Returns one more than the limit if there are more. */
export async function listLocks(
  db: Db,
  projectId: number,
  { path, id, from, limit }: LockFilter,
): Promise<{ locks: LfsLock[]; next: number | null }> {
  let query = locksOf(db, projectId)
  if (path !== undefined) query = query.where('l.path', '=', path)
  if (id !== undefined) query = query.where('l.id', '=', id)
  if (from !== undefined) query = query.where('l.id', '>=', from)
  const found = await query
    .orderBy('l.id')
    .limit(limit + 1)
    .execute()
  return { locks: found.slice(0, limit), next: found[limit]?.id ?? null }
}
