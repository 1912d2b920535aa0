import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { lockProject, type Project } from './queries.ts'

/** An archived project is read-only. Idempotent. */
export async function setArchived(app: App, actor: User, { id }: Project, archived: boolean): Promise<Project> {
  return transact(app, async (app) => {
    const project = await lockProject(app, id)
    if (!project) throw notFound('Project')
    if (project.archived === archived) return project
    const changed = await app.db
      .updateTable('projects')
      .set({ archived, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await emit(app, 'project.updated', { id, by: actor.id })
    return changed
  })
}
