/** What has happened in a project's repositories, as its row tells it. */
import { HOUR, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Inspected } from './inspection.ts'
import type { Project } from './queries.ts'

export async function noteActivity(app: App, { id }: Project): Promise<void> {
  await app.db
    .updateTable('projects')
    .set({ last_activity_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
}

/** How many pushes there have been since the repository was last tidied. */
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

/** False where another push was first after all: two may have found the repository empty. */
export async function nameFirstBranch(app: App, { id }: Project, default_branch: string): Promise<boolean> {
  const { numUpdatedRows } = await app.db
    .updateTable('projects')
    .set({ empty_repo: false, default_branch })
    .where('id', '=', id)
    .where('empty_repo', '=', true)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False where somebody has named another branch, or pushed the first one, while we looked. */
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

/** Added up anew from all objects that the project has. */
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
