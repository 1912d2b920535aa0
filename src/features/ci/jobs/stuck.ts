/** Fails jobs that would never end: their runner is silent, or no runner can take them. */
import { after, DAY, HOUR, MINUTE } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import type { Job } from './model.ts'
import { tagsOf } from './options.ts'
import { cancelJob, dropJob } from './transitions.ts'

const AT_ONCE = 500
const SILENT = HOUR
const UNWANTED = DAY
const UNREACHED = HOUR
const ONLINE = 2 * HOUR
/** Runners enforce the timeout themselves. Then they clean up and upload artifacts. */
const GRACE = 15 * MINUTE

export async function endStuckJobs(app: App): Promise<void> {
  for (const job of await lostJobs(app)) await giveUp(app, job)
  await dropUnwanted(app)
}

async function giveUp(app: App, job: Job): Promise<void> {
  if (job.status === 'canceling') await cancelJob(app, job, { isForced: true })
  else await dropJob(app, job, { reason: 'stuck_or_timeout_failure' })
}

/** Jobs whose runner has been silent for too long, or has exceeded the timeout. */
async function lostJobs({ db, clock }: App): Promise<Job[]> {
  const running = db
    .selectFrom('ci_jobs')
    .selectAll('ci_jobs')
    .where('kind', '=', 'job')
    .where('status', 'in', ['running', 'canceling'])
    .limit(AT_ONCE)
  const [silent, overdue] = await Promise.all([
    running.where('contacted_at', '<', after(clock, -SILENT)).execute(),
    running
      .innerJoin('ci_runs', 'ci_runs.job_id', 'ci_jobs.id')
      .where('ci_runs.deadline_at', '<', after(clock, -GRACE))
      .execute(),
  ])
  return [...new Map([...silent, ...overdue].map((one) => [one.id, one])).values()]
}

async function dropUnwanted(app: App): Promise<void> {
  const { db, clock } = app
  const unwanted = after(clock, -UNWANTED)
  const isReached = new Map<string, boolean>()
  for (let last = 0; ;) {
    const waiting = await db
      .selectFrom('ci_queue as q')
      .innerJoin('ci_jobs as j', 'j.id', 'q.job_id')
      .innerJoin('projects as p', 'p.id', 'j.project_id')
      .selectAll('j')
      .select(['p.namespace_id', 'p.shared_runners_enabled', 'p.builds_access_level'])
      .where('j.queued_at', '<', after(clock, -UNREACHED))
      .where('q.job_id', '>', last)
      .orderBy('q.job_id')
      .limit(AT_ONCE)
      .execute()
    for (const { namespace_id, shared_runners_enabled, builds_access_level, ...job } of waiting) {
      const alike = JSON.stringify([job.project_id, job.tags, job.protected])
      const location = { namespace_id, shared_runners_enabled }
      const isRunnable =
        builds_access_level !== FeatureDisabled && (isReached.get(alike) ?? (await hasRunner(app, job, location)))
      isReached.set(alike, isRunnable)
      if (!isRunnable || job.queued_at! < unwanted) await giveUp(app, job)
      last = job.id
    }
    if (waiting.length < AT_ONCE) return
  }
}

interface Location {
  readonly namespace_id: number
  readonly shared_runners_enabled: boolean
}

/** Whether a runner with recent contact could take the job. */
async function hasRunner({ db, clock }: App, job: Job, location: Location): Promise<boolean> {
  const tags = tagsOf(job)
  const online = await db
    .selectFrom('runners as r')
    .select('r.tags')
    .where('r.active', '=', true)
    .where('r.contacted_at', '>=', after(clock, -ONLINE))
    .$if(!job.protected, (query) => query.where('r.access_level', '=', 'not_protected'))
    .$if(tags.length === 0, (query) => query.where('r.run_untagged', '=', true))
    .where((eb) =>
      eb.or([
        ...(location.shared_runners_enabled ? [eb('r.runner_type', '=', 'instance_type')] : []),
        eb.exists(
          eb
            .selectFrom('runner_projects as rp')
            .select('rp.runner_id')
            .whereRef('rp.runner_id', '=', 'r.id')
            .where('rp.project_id', '=', job.project_id),
        ),
        eb.exists(
          eb
            .selectFrom('runner_groups as rg')
            .innerJoin('namespace_ancestors as a', 'a.ancestor_id', 'rg.group_id')
            .select('rg.runner_id')
            .whereRef('rg.runner_id', '=', 'r.id')
            .where('a.namespace_id', '=', location.namespace_id),
        ),
      ]),
    )
    .execute()
  return online.some((runner) => {
    const offered = new Set(tagsOf(runner))
    return tags.every((tag) => offered.has(tag))
  })
}
