import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { isLeaseOver } from '../../../jobs/leases.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'

const deadJobs = (db: Db) => db.selectFrom('jobs').selectAll().where('state', '=', 'dead')

export const deadJob = resource({
  name: 'Job',
  params: z.object({ job_id: id }),
  policy: publicPolicy,
  find: (app, { job_id }) => deadJobs(app.db).where('id', '=', job_id).executeTakeFirst(),
})

export const listDeadJobs = (db: Db, page: PageRequest): Promise<Page<Row<'jobs'>>> =>
  pageOfQuery(deadJobs(db).orderBy('id', 'desc'), page)

export interface QueueFigures {
  /** Attempts since the instance started, and how many of them failed. */
  readonly processed: number
  readonly failed: number
  /** Due and not yet claimed. */
  readonly enqueued: number
  /** Claimed by a worker of some process. */
  readonly busy: number
  /** Failed after the last attempt. */
  readonly dead: number
  /** How long the oldest due job has waited. */
  readonly latencySeconds: number
}

export async function queueFigures(app: App): Promise<QueueFigures> {
  const now = timestamp(app.clock)
  const { processed, failed } = await app.db.selectFrom('job_totals').selectAll().executeTakeFirstOrThrow()
  const { enqueued, busy, dead, oldest } = await app.db
    .selectFrom('jobs')
    .select((eb) => {
      const ready = eb('state', '=', 'ready')
      const leased = eb.and([ready, eb('lease_until', '>=', now)])
      const due = eb.and([ready, eb('run_at', '<=', now), isLeaseOver(now)])
      return [
        eb.fn.countAll<number>().filterWhere(due).as('enqueued'),
        eb.fn.countAll<number>().filterWhere(leased).as('busy'),
        eb.fn.countAll<number>().filterWhere('state', '=', 'dead').as('dead'),
        eb.fn.min<string | null>('run_at').filterWhere(due).as('oldest'),
      ]
    })
    .executeTakeFirstOrThrow()
  const latencySeconds = oldest ? Math.floor((Date.parse(now) - Date.parse(oldest)) / 1000) : 0
  return { processed, failed, enqueued: Number(enqueued), busy: Number(busy), dead: Number(dead), latencySeconds }
}
