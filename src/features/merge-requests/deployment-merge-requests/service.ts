import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { transact } from '../../../store/transact.ts'
import { markLinked } from '../../ci/environments/deployments.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { commitsOf, mergedBy } from './queries.ts'

/** Links a deployment to the merge requests it contains. Idempotent. */
export async function linkDeployed(app: App, id: number): Promise<void> {
  const deployment = await app.db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst()
  if (!deployment || deployment.status !== 'success' || deployment.linked) return
  const project = await findProjectById(app.db, deployment.project_id)
  if (!project) return
  const dir = repositoryDir(app, project)
  const commits = (await repositoryExists(dir)) ? await commitsOf(app, dir, deployment) : []
  await transact(app, async (app) => {
    const { db } = app
    // Nothing to link if the deployment was deleted meanwhile.
    if (!(await markLinked(app, id)) || commits.length === 0) return
    const links = mergedBy(db, deployment.project_id, commits)
      .innerJoin('deployments as d', (join) => join.on('d.id', '=', id))
      .select([
        'd.id as deployment_id',
        'd.environment_id',
        sql<string>`coalesce(d.finished_at, d.updated_at)`.as('at'),
      ])
    await db
      .insertInto('deployment_merge_requests')
      .columns(['merge_request_id', 'deployment_id', 'environment_id', 'deployed_at'])
      .expression(links)
      .onConflict((c) => c.doNothing())
      .execute()
  })
}
