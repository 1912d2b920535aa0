/**
 * Jobs that are being delivered to a runner. The row in `ci_runs` names the process until its answer is sent. If the
 * connection breaks before that, the job returns to the queue at once. If the process ends, the job returns as soon as
 * another process notices. In that case the answer may still have arrived, so the runner gets a short time to report.
 */
import { MINUTE } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { hasHolderEnded } from '../../../jobs/processes.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { together } from '../../../store/together.ts'
import { returnJob } from '../jobs/transitions.ts'
import { rejoinQueue } from './queue.ts'
import { noteHandedOver } from './runs.ts'

/** A runner sends its first request at once and its log every three seconds. */
const HEARD_OF_MS = 5_000
const MOST_AT_ONCE = 500

const handedOver = together(async (app: App, ids: readonly number[]): Promise<void[]> => {
  await noteHandedOver(app, ids)
  return ids.map(() => {})
})

/** Confirms the delivery of a job, or returns the job to the queue. */
export async function endHandover(app: App, id: number, isSent: boolean): Promise<void> {
  try {
    // A power cut may undo this write. That is harmless, because the runner also reports to the server.
    if (isSent) return await handedOver({ ...app, db: app.store.relaxed }, id)
    await takeBack(app, { id, holder: app.holder })
  } catch (error) {
    app.log.warn({ err: error, part: 'ci', job: id }, 'the end of a handover was not noted')
  }
}

interface Run {
  readonly id: number
  readonly holder: string
}

async function takeBack(app: App, run: Run): Promise<void> {
  rejoinQueue(app, run.id)
  await returnJob(app, run)
}

interface Lost {
  readonly runs: readonly Run[]
}

const RETURN_LOST = { name: 'ci.return_lost_jobs' }

export const returnLostJobs = job<Lost>(RETURN_LOST.name, async (app, { runs }) => {
  for (const run of runs) await takeBack(app, run)
})

export const findLostJobs = job<object>(
  'ci.find_lost_jobs',
  async (app) => {
    const lost = await app.db
      .selectFrom('ci_runs')
      .select(['job_id as id', 'holder'])
      .where(hasHolderEnded('ci_runs.holder'))
      .orderBy('job_id')
      .limit(MOST_AT_ONCE)
      .$narrowType<{ holder: string }>()
      .execute()
    if (lost.length > 0) await enqueue<Lost>(app, RETURN_LOST, { runs: lost }, { delay: HEARD_OF_MS })
  },
  { every: MINUTE / 2, recovers: true },
)
