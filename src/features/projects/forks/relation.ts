import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, conflict, invalid } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../projects/queries.ts'

/** Declares a project as a fork of another one that the forge did not create as a fork. */
export async function addForkRelation(app: App, project: Project, source: Project): Promise<Project> {
  if (project.id === source.id) throw invalid({ forked_from_project_id: ['is invalid'] })
  return transact(app, async (app) => {
    const fork = await app.db
      .updateTable('projects')
      .set({ forked_from_id: source.id, updated_at: timestamp(app.clock) })
      .where('id', '=', project.id)
      .where('forked_from_id', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (!fork) throw conflict('Project already forked')
    await countFork(app, source.id, 1)
    return fork
  })
}

/** Keeps the content and removes only the relation. */
export async function removeForkRelation(app: App, actor: User, { id, forked_from_id }: Project): Promise<void> {
  if (forked_from_id === null) throw new Refusal('not_modified')
  await transact(app, async (app) => {
    const unlinked = await app.db
      .updateTable('projects')
      .set({ forked_from_id: null, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .where('forked_from_id', '=', forked_from_id)
      .returning('id')
      .executeTakeFirst()
    if (!unlinked) throw new Refusal('not_modified')
    await countFork(app, forked_from_id, -1)
    await emit(app, 'project.unlinked', { id, source_id: forked_from_id, by: actor.id })
  })
}

export async function countFork(app: App, source: number, by: 1 | -1): Promise<void> {
  await app.db
    .updateTable('projects')
    .set((eb) => ({ forks_count: eb('forks_count', '+', by) }))
    .where('id', '=', source)
    .execute()
}
