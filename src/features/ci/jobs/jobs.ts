import { MINUTE, timestamp } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { expireArtifacts } from './artifacts.ts'
import { assignResource } from './resources.ts'
import { ARCHIVE_TRACE, ASSIGN_RESOURCE, START_DELAYED } from './steps.ts'
import { endStuckJobs } from './stuck.ts'
import { archiveTrace } from './traces.ts'
import { enqueueJob } from './transitions.ts'

export const assignResources = job<{ id: number }>(ASSIGN_RESOURCE.name, async (app, { id }) => assignResource(app, id))

export const archiveTraces = job<{ id: number }>(ARCHIVE_TRACE.name, async (app, { id }) => archiveTrace(app, id))

/** Starts a delayed job at its time, unless a user started or canceled it before. */
export const startDelayed = job<{ id: number }>(START_DELAYED.name, async (app, { id }) => {
  const due = await app.db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'scheduled')
    .executeTakeFirst()
  if (due) await enqueueJob(app, due)
})

const AT_ONCE = 500
export const dropStuckJobs = job<object>('ci.drop_stuck_jobs', async (app) => endStuckJobs(app), {
  every: 10 * MINUTE,
})

/** Starts delayed jobs that missed their time. */
export const startOverdue = job<object>(
  'ci.start_overdue',
  async (app) => {
    const due = await app.db
      .selectFrom('ci_jobs')
      .selectAll()
      .where('status', '=', 'scheduled')
      .where('scheduled_at', '<=', timestamp(app.clock))
      .limit(AT_ONCE)
      .execute()
    for (const one of due) await enqueueJob(app, one)
  },
  { every: MINUTE },
)

export const dropExpiredArtifacts = job<object>('ci.expire_artifacts', async (app) => expireArtifacts(app), {
  every: 10 * MINUTE,
})
