import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import type { QueueFigures } from './queries.ts'

const queues = entity({ default: entity({ backlog: z.int(), latency: z.int() }) })
const jobs = entity({
  processed: z.int(),
  failed: z.int(),
  enqueued: z.int(),
  busy: z.int(),
  dead: z.int(),
})
const processes = z.array(
  entity({
    hostname: z.string(),
    pid: z.int(),
    tag: z.string(),
    started_at: timestampOut,
    queues: z.array(z.string()),
    labels: z.array(z.string()),
    concurrency: z.int(),
    busy: z.int(),
  }),
)

export const QueueMetricsEntity = entity({ queues })
export const ProcessMetricsEntity = entity({ processes })
export const JobStatsEntity = entity({ jobs })
export const CompoundMetricsEntity = entity({ queues, processes, jobs })

export interface Process {
  readonly hostname: string
  readonly pid: number
  readonly startedAt: string
  readonly concurrency: number
}

export function presentMetrics(
  { processed, failed, enqueued, busy, dead, latencySeconds }: QueueFigures,
  { hostname, pid, startedAt, concurrency }: Process,
): z.infer<typeof CompoundMetricsEntity> {
  return {
    queues: { default: { backlog: enqueued, latency: latencySeconds } },
    // The answering process; the store does not know the others.
    processes: [
      { hostname, pid, tag: 'mortise', started_at: startedAt, queues: ['default'], labels: [], concurrency, busy },
    ],
    jobs: { processed, failed, enqueued, busy, dead },
  }
}

export const DeadJobEntity = entity({
  id: z.int(),
  name: z.string(),
  /** The payload in JSON, truncated if it is long. */
  payload: z.string(),
  attempts: z.int(),
  error: z.string().nullable(),
  created_at: timestampOut,
}).meta({ id: 'DeadJob' })

export function presentDeadJob(row: Row<'jobs'>): z.infer<typeof DeadJobEntity> {
  const { id, name, payload, attempts, last_error, created_at } = row
  // Enough to tell jobs apart: a payload may contain a whole document.
  return { id, name, payload: payload.slice(0, 10_000), attempts, error: last_error, created_at }
}
