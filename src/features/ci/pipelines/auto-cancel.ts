/** Cancels pipelines that a newer pipeline of the same branch makes redundant. */
import { after, DAY } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { cancelPipeline } from './cancel.ts'
import type { Pipeline } from './model.ts'
import { CANCELABLE } from './status.ts'

const MOST = 100

export async function cancelOutdated(app: App, { project }: { project: Project }, newer: Pipeline): Promise<void> {
  if (project.auto_cancel_pending_pipelines !== 'enabled' || newer.bridge_id !== null) return
  const older = await app.db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project.id)
    .where((eb) =>
      // Several merge requests of a fork can have the same ref, and one merge request can run on two refs.
      newer.merge_request_id === null
        ? eb.and([eb('ref', '=', newer.ref), eb('tag', '=', newer.tag), eb('merge_request_id', 'is', null)])
        : eb('merge_request_id', '=', newer.merge_request_id),
    )
    .where('id', '<', newer.id)
    .where('sha', '!=', newer.sha)
    .where('status', 'in', CANCELABLE)
    .where('bridge_id', 'is', null)
    .where('created_at', '>', after(app.clock, -7 * DAY))
    .orderBy('id', 'desc')
    .limit(MOST)
    .execute()
  for (const { id } of older) await cancelNeedless(app, id, newer.id)
}

/** Cancels as far as `on_new_commit` of the pipeline allows. */
export async function cancelNeedless(app: App, id: number, by: number): Promise<void> {
  const pipeline = await app.db.selectFrom('pipelines').select('on_new_commit').where('id', '=', id).executeTakeFirst()
  if (!pipeline || pipeline.on_new_commit === 'none') return
  const isPartial = pipeline.on_new_commit === 'interruptible'
  if (isPartial || !(await hasStartedLasting(app, id))) await cancelPipeline(app, id, { by, isPartial })
}

/** Whether a job has started that must not be interrupted. */
async function hasStartedLasting({ db }: App, pipeline: number): Promise<boolean> {
  const found = await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline)
    .where('kind', '!=', 'external')
    .where('started_at', 'is not', null)
    .where('interruptible', '=', false)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
