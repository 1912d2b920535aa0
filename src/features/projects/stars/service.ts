import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../projects/queries.ts'

/** The transaction that writes the row also updates the count, so that the count stays correct under concurrency. */
export async function starProject(app: App, actor: User, project: Project): Promise<Project> {
  return transact(app, async (app) => {
    const star = await app.db
      .insertInto('stars')
      .values({ user_id: actor.id, project_id: project.id, created_at: timestamp(app.clock) })
      .onConflict((c) => c.columns(['user_id', 'project_id']).doNothing())
      .returning('user_id')
      .executeTakeFirst()
    if (!star) throw new Refusal('not_modified')
    return moveCount(app, project, 1)
  })
}

export async function unstarProject(app: App, actor: User, project: Project): Promise<Project> {
  return transact(app, async (app) => {
    const star = await app.db
      .deleteFrom('stars')
      .where('user_id', '=', actor.id)
      .where('project_id', '=', project.id)
      .returning('user_id')
      .executeTakeFirst()
    if (!star) throw new Refusal('not_modified')
    return moveCount(app, project, -1)
  })
}

async function moveCount(app: App, { id }: Project, by: number): Promise<Project> {
  return app.db
    .updateTable('projects')
    .set((eb) => ({ star_count: eb('star_count', '+', by) }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes the stars of a removed user. Only rows that were really deleted reduce the counts. */
export async function forgetStarsOf(app: App, user: number): Promise<void> {
  await transact(app, async ({ db }) => {
    const gone = await db.deleteFrom('stars').where('user_id', '=', user).returning('project_id').execute()
    const projects = idList(
      db,
      gone.map(({ project_id }) => project_id),
    )
    await db
      .updateTable('projects')
      .set((eb) => ({ star_count: eb('star_count', '-', 1) }))
      .where(inIdList(db, 'id', projects))
      .execute()
  })
}
