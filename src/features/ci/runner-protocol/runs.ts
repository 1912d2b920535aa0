import { after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Job } from '../jobs/model.ts'
import { countMinutes } from '../minutes/service.ts'

/** What was known only while a runner had the job; what it has used is counted. In the transaction that ended it. */
export async function endRun(app: App, job: Job): Promise<void> {
  await countMinutes(app, job)
  await app.db.deleteFrom('ci_runs').where('job_id', '=', job.id).execute()
}

/** From the moment it is handed over. */
export async function beginRun(
  app: App,
  { id, timeout }: Pick<Job, 'id' | 'timeout'>,
  masks: readonly string[],
): Promise<void> {
  const masks_sealed = app.vault.seal(JSON.stringify(masks))
  const deadline_at = timeout === null ? null : after(app.clock, timeout * 1000)
  const fresh = { masks_sealed, deadline_at, trace_crc: 0, trace_resets: 0 }
  await app.db
    .insertInto('ci_runs')
    .values({ job_id: id, ...fresh })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet(fresh))
    .execute()
}
