import { hostname } from 'node:os'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import type { App } from '../../../context.ts'
import { CONCURRENCY } from '../../../jobs/worker.ts'
import {
  CompoundMetricsEntity,
  JobStatsEntity,
  ProcessMetricsEntity,
  QueueMetricsEntity,
  presentMetrics,
} from './entity.ts'
import { queueFigures } from './queries.ts'

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
