import type { App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { stopJobs, type StopOptions } from '../jobs/stopping.ts'
import { CANCEL_CHILDREN, type CancelChildren } from './children.ts'
import type { Pipeline } from './model.ts'
import { lockPipeline, processLocked } from './process.ts'
import { CANCELABLE } from './status.ts'

export interface CancelOptions extends StopOptions {
  /** The newer pipeline that makes this one redundant. */
  readonly by?: number
  /** Cancel only interruptible jobs. */
  readonly isPartial?: boolean
}

/** Cancels unfinished jobs; manual jobs stay. Null if the pipeline does not exist. */
export function cancelPipeline(
  app: App,
  id: number,
  { by, isPartial = false, isForced = false }: CancelOptions = {},
): Promise<Pipeline | null> {
  return transact(app, async (app) => {
    await lockPipeline(app, id)
    const jobs = await app.db
      .selectFrom('ci_jobs')
      .select('id')
      .where('pipeline_id', '=', id)
      .where('retried', '=', false)
      .where('status', 'in', isForced ? [...CANCELABLE, 'canceling'] : CANCELABLE)
      .$if(isPartial, (query) => query.where('interruptible', '=', true))
      .execute()
    await stopJobs(
      app,
      jobs.map((job) => job.id),
      { isForced },
    )
    if (by !== undefined) {
      await app.db.updateTable('pipelines').set({ auto_canceled_by_id: by }).where('id', '=', id).execute()
    }
    await enqueue<CancelChildren>(app, CANCEL_CHILDREN, { id, by })
    return processLocked(app, id)
  })
}
