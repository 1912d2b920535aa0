import { after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Job } from '../jobs/model.ts'
import { countMinutes } from '../minutes/service.ts'

/** What was known only while a runner had the job; what it has used is counted. In the transaction that ended it. */
export async function endRun(app: App, job: Job): Promise<void> {
  await countMinutes(app, job)
  await app.db.deleteFrom('ci_runs').where('job_id', '=', job.id).execute()
}

interface Run {
  readonly job_id: number
  readonly masks_sealed: string
  readonly deadline_at: string | null
}

const insertRun = hotQuery((db, { job_id, masks_sealed, deadline_at }: Run) =>
  db
    .insertInto('ci_runs')
    .values({ job_id, masks_sealed, deadline_at })
    .onConflict((conflict) =>
      conflict.column('job_id').doUpdateSet({ masks_sealed, deadline_at, trace_crc: 0, trace_resets: 0 }),
    ),
)

/** In the transaction that hands it over. */
export async function beginRun(
  { db, vault, clock }: App,
  { id, timeout }: Pick<Job, 'id' | 'timeout'>,
  masks: readonly string[],
): Promise<void> {
  const deadline_at = timeout === null ? null : after(clock, timeout * 1000)
  await insertRun(db, { job_id: id, masks_sealed: vault.seal(JSON.stringify(masks)), deadline_at })
}
