import type { App } from '../../../context.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Job } from '../jobs/model.ts'
import { countMinutes } from '../minutes/service.ts'

/** What was known only while a runner had the job; what it has used is counted. In the transaction that ended it. */
export async function endRun(app: App, job: Job): Promise<void> {
  await countMinutes(app, job)
  await app.db.deleteFrom('ci_runs').where('job_id', '=', job.id).execute()
}

const insertRun = hotQuery((db, { job_id, masks_sealed }: { job_id: number; masks_sealed: string }) =>
  db
    .insertInto('ci_runs')
    .values({ job_id, masks_sealed })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet({ masks_sealed, trace_crc: 0, trace_resets: 0 })),
)

/** In the transaction that hands it over. */
export async function beginRun({ db, vault }: App, { id }: Pick<Job, 'id'>, masks: readonly string[]): Promise<void> {
  await insertRun(db, { job_id: id, masks_sealed: vault.seal(JSON.stringify(masks)) })
}
