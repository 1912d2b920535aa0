/** Updates the activity columns of a project's row. */
import { HOUR, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Inspected } from '../repositories/inspection.ts'
import type { Project } from './queries.ts'

export async function noteActivity(app: App, { id }: Project): Promise<void> {
  await app.db
    .updateTable('projects')
    .set({ last_activity_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
}

/** Returns the number of pushes since the last housekeeping. */
export async function notePush(app: App, { id, last_activity_at }: Project): Promise<number> {
  const isOld = Date.parse(last_activity_at) <= app.clock.now().getTime() - HOUR
  const { pushes_since_housekeeping: pushes } = await app.db
    .updateTable('projects')
    .set((eb) => ({
      pushes_since_housekeeping: eb('pushes_since_housekeeping', '+', 1),
      ...(isOld && { last_activity_at: timestamp(app.clock) }),
    }))
    .where('id', '=', id)
    .returning('pushes_since_housekeeping')
    .executeTakeFirstOrThrow()
  return pushes
}

/** False if a concurrent push was faster: both may have found the repository empty. */
export async function nameFirstBranch(app: App, { id }: Project, default_branch: string): Promise<boolean> {
  const { numUpdatedRows } = await app.db
    .updateTable('projects')
    .set({ empty_repo: false, default_branch })
    .where('id', '=', id)
    .where('empty_repo', '=', true)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False if a concurrent request changed the default branch or pushed the first one. */
export async function keepInspected(app: App, seen: Project, inspected: Inspected): Promise<boolean> {
  const { numUpdatedRows } = await app.db
    .updateTable('projects')
    .set(inspected)
    .where('id', '=', seen.id)
    .where('default_branch', '=', seen.default_branch)
    .where('empty_repo', '=', seen.empty_repo)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function addLfsSize({ db }: App, id: number, bytes: number): Promise<void> {
  await db
    .updateTable('projects')
    .set((eb) => ({ lfs_objects_size: eb('lfs_objects_size', '+', bytes) }))
    .where('id', '=', id)
    .execute()
}

/** Recomputes the sum over all objects of the project. */
export async function measureLfsSize({ db }: App, id: number): Promise<void> {
  await db
    .updateTable('projects')
    .set((eb) => ({
      lfs_objects_size: eb
        .selectFrom('lfs_objects as o')
        .innerJoin('lfs_object_projects as link', 'link.lfs_object_id', 'o.id')
        .select((sum) => sum.fn.coalesce(sum.fn.sum<number>('o.size'), sum.lit(0)).as('size'))
        .where('link.project_id', '=', id),
    }))
    .where('id', '=', id)
    .execute()
}
