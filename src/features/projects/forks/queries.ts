import { child } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProject, loadProjectSubject, project, type Project } from '../projects/queries.ts'
import { mayFork } from './policy.ts'

/** Whether the creator of the fork may still fork the source. Includes sources that are being deleted. */
export async function mayCopy(app: App, { creator_id }: Project, sourceId: number): Promise<boolean> {
  const source = await app.db.selectFrom('projects').selectAll().where('id', '=', sourceId).executeTakeFirst()
  const creator = creator_id === null ? null : await findUser(app.db, creator_id)
  if (!source || creator?.state !== 'active') return false
  return mayFork(await loadProjectSubject(app, source, creator))
}

/** Whether two projects have a common ancestor, or one is an ancestor of the other, over any number of forks. */
export async function areInOneNetwork(db: Db, one: number, other: number): Promise<boolean> {
  const line = new Set(await lineOf(db, one))
  return (await lineOf(db, other)).some((id) => line.has(id))
}

/** A project with all its ancestors. Users can set fork relations by hand, so the relations may contain a cycle. */
async function lineOf(db: Db, id: number): Promise<number[]> {
  const rows = await db
    .withRecursive('line', (db) =>
      db
        .selectFrom('projects')
        .select(['id', 'forked_from_id'])
        .where('id', '=', id)
        .union(
          db
            .selectFrom('projects')
            .innerJoin('line', 'line.forked_from_id', 'projects.id')
            .select(['projects.id', 'projects.forked_from_id']),
        ),
    )
    .selectFrom('line')
    .select('id')
    .execute()
  return rows.map((row) => row.id)
}

/** `/projects/:id/fork/:forked_from_id` */
export const forkSource = child(project, {
  name: 'Project',
  key: 'source',
  params: { forked_from_id: text },
  find: (app, _fork, { forked_from_id }) => findProject(app.db, forked_from_id),
})
