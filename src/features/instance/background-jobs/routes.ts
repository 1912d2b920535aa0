import { hostname } from 'node:os'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { discardJob, retryJob } from '../../../jobs/dead-letters.ts'
import { CONCURRENCY } from '../../../jobs/worker.ts'
import {
  CompoundMetricsEntity,
  DeadJobEntity,
  JobStatsEntity,
  ProcessMetricsEntity,
  QueueMetricsEntity,
  presentDeadJob,
  presentMetrics,
} from './entity.ts'
import { deadJob, listDeadJobs, queueFigures } from './queries.ts'

const THIS_PROCESS = {
  hostname: hostname(),
  pid: process.pid,
  concurrency: CONCURRENCY,
  startedAt: new Date(performance.timeOrigin).toISOString(),
}

const metricsOf = async (app: App) => presentMetrics(await queueFigures(app), THIS_PROCESS)

export const queueMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/queue_metrics',
  summary: 'Get the figures of the job queue',
  ...administratorsFirst,
  output: QueueMetricsEntity,
  async handle({ app }) {
    const { queues } = await metricsOf(app)
    return { queues }
  },
})

export const processMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/process_metrics',
  summary: 'Get the processes that run jobs',
  ...administratorsFirst,
  output: ProcessMetricsEntity,
  async handle({ app }) {
    const { processes } = await metricsOf(app)
    return { processes }
  },
})

export const jobStats = endpoint({
  method: 'GET',
  path: '/sidekiq/job_stats',
  summary: 'Get the number of jobs by state',
  ...administratorsFirst,
  output: JobStatsEntity,
  async handle({ app }) {
    const { jobs } = await metricsOf(app)
    return { jobs }
  },
})

export const compoundMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/compound_metrics',
  summary: 'Get all figures of background work',
  ...administratorsFirst,
  output: CompoundMetricsEntity,
  handle: ({ app }) => metricsOf(app),
})

export const listDead = endpoint({
  method: 'GET',
  path: '/background_jobs/dead',
  summary: 'List background jobs that were given up after their last try',
  ...administratorsFirst,
  output: pageOf(DeadJobEntity),
  async handle({ app, page }) {
    const { items, total } = await listDeadJobs(app.db, page)
    return { total, items: items.map(presentDeadJob) }
  },
})

export const retry = endpoint({
  method: 'POST',
  path: '/background_jobs/dead/:job_id/retry',
  summary: 'Retry a failed background job',
  on: deadJob,
  ...administratorsFirst,
  output: null,
  status: 202,
  async handle({ app, subject }) {
    if (!(await retryJob(app, subject))) throw notFound('Job') // deleted in the meantime
  },
})

export const discard = endpoint({
  method: 'DELETE',
  path: '/background_jobs/dead/:job_id',
  summary: 'Delete a failed background job',
  on: deadJob,
  ...administratorsFirst,
  output: null,
  async handle({ app, subject }) {
    if (!(await discardJob(app, subject))) throw notFound('Job') // deleted in the meantime
  },
})
