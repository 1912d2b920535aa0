import { MINUTE, timestamp } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { nextTime } from './cron.ts'
import type { Schedule } from './model.ts'
import { runDue } from './run.ts'

const AT_ONCE = 200
/** The minimum interval, however often the cron expression is due. */
const SHORTEST_INTERVAL = 5 * MINUTE

export const runScheduled = job<{ id: number; due: string }>('ci.run_schedule', async (app, { id, due }) =>
  runDue(app, id, due),
)

export const sweepSchedules = job<object>('ci.sweep_schedules', async (app) => startDue(app), { every: MINUTE })

async function startDue(app: App): Promise<void> {
  const due = await app.db
    .selectFrom('pipeline_schedules')
    .selectAll()
    .where('active', '=', true)
    .where('next_run_at', '<=', timestamp(app.clock))
    .orderBy('next_run_at')
    .limit(AT_ONCE)
    .execute()
  for (const schedule of due) await claim(app, schedule)
}

/** One of several processes moves the schedule to its next time, and enqueues the run in the same transaction. */
async function claim(app: App, { id, cron, cron_timezone, next_run_at }: Schedule): Promise<void> {
  const now = app.clock.now()
  const next = nextTime(cron, cron_timezone, new Date(now.getTime() + SHORTEST_INTERVAL - 1))
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('pipeline_schedules')
      .set({ next_run_at: next?.toISOString() ?? null })
      .where('id', '=', id)
      .where('active', '=', true)
      .where('next_run_at', '=', next_run_at)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await enqueue(app, runScheduled, { id, due: next_run_at! })
  })
}
