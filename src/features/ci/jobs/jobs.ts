import { after, DAY, HOUR, MINUTE, timestamp } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { expireArtifacts } from './artifacts.ts'
import type { Job } from './model.ts'
import { assignResource } from './resources.ts'
import { ARCHIVE_TRACE, ASSIGN_RESOURCE, START_DELAYED } from './steps.ts'
import { archiveTrace } from './traces.ts'
import { dropJob, enqueueJob } from './transitions.ts'

export const assignResources = job<{ id: number }>(ASSIGN_RESOURCE.name, async (app, { id }) => assignResource(app, id))

export const archiveTraces = job<{ id: number }>(ARCHIVE_TRACE.name, async (app, { id }) => archiveTrace(app, id))

/** At the time that was planned, unless it was started or stopped by hand. */
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
const SILENT = HOUR
const UNWANTED = DAY
const UNREACHED = HOUR
const ONLINE = 2 * HOUR

/** Jobs whose runner has gone silent, and those that no runner takes. */
export const dropStuckJobs = job<object>(
  'ci.drop_stuck_jobs',
  async (app) => {
    for (const one of await stuckJobs(app)) await dropJob(app, one, { reason: 'stuck_or_timeout_failure' })
  },
  { every: 10 * MINUTE },
)

async function stuckJobs(app: App): Promise<Job[]> {
  const { db, clock } = app
  const jobs = db.selectFrom('ci_jobs').selectAll().where('kind', '=', 'job').limit(AT_ONCE)
  const waiting = jobs.where('status', '=', 'pending')
  const [silent, unwanted, unreached] = await Promise.all([
    jobs.where('status', 'in', ['running', 'canceling']).where('contacted_at', '<', after(clock, -SILENT)).execute(),
    waiting.where('queued_at', '<', after(clock, -UNWANTED)).execute(),
    waiting
      .where('queued_at', '<', after(clock, -UNREACHED))
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('runners')
              .select('runners.id')
              .where('runners.active', '=', true)
              .where('runners.contacted_at', '>=', after(clock, -ONLINE)),
          ),
        ),
      )
      .execute(),
  ])
  return [...new Map([...silent, ...unwanted, ...unreached].map((one) => [one.id, one])).values()]
}

/** Should one have been missed at its time. */
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
