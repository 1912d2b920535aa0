import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { Master } from '../../../lib/levels.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { findLock, type LfsLock } from './queries.ts'

/** Returns the lock on the path and whether it is new. Of two concurrent callers, one gets the lock of the other. */
export async function lockPath(
  app: App,
  actor: User,
  { id: project_id }: Project,
  path: string,
): Promise<{ lock: LfsLock; isNew: boolean }> {
  const lock = await app.db
    .insertInto('lfs_locks')
    .values({ project_id, path, user_id: actor.id, locked_at: timestamp(app.clock) })
    .onConflict((c) => c.columns(['project_id', 'path']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (lock) return { lock: { ...lock, username: actor.username }, isNew: true }
  const existing = await findLock(app.db, project_id, { path })
  if (!existing) throw new Refusal('conflict', 'The lock changed meanwhile, please try again')
  return { lock: existing, isNew: false }
}

/** Removes the caller's own lock, or with force any lock. */
export async function unlockPath(
  app: App,
  { actor, level }: { actor: User | null; level: number },
  { id: project_id }: Project,
  { id, force }: { id: number; force: boolean },
): Promise<LfsLock> {
  const lock = await findLock(app.db, project_id, { id })
  if (!lock) throw new Refusal('not_found', 'Lock not found')
  if (lock.user_id !== actor?.id) {
    if (!force) throw new Refusal('forbidden', `'${lock.path}' is locked by @${lock.username}`)
    if (level < Master) throw new Refusal('forbidden', 'You must have master access to force delete a lock')
  }
  const { numDeletedRows } = await app.db.deleteFrom('lfs_locks').where('id', '=', lock.id).executeTakeFirst()
  if (numDeletedRows === 0n) throw new Refusal('not_found', 'Lock not found')
  return lock
}
