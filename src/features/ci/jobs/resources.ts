/** Resources that one job at a time has. */
import type { App } from '../../../context.ts'
import { holdName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { holdPipeline, processHeld } from '../pipelines/process.ts'
import type { Job } from './model.ts'
import { moveJobs } from './steps.ts'

const HOLDING = ['pending', 'running', 'canceling'] as const
const COMING = ['created', 'scheduled', 'waiting_for_resource'] as const

/** To the next that waits, if nobody has it. Bears being done twice. */
export async function assignResource(app: App, id: number): Promise<void> {
  await transact(app, async (app) => {
    await holdName(app.db, `resource group ${id}`)
    const next = await nextFor(app, id)
    if (!next) return
    await holdPipeline(app, next.pipeline_id)
    const moved = await moveJobs(app, [next.id], 'pending')
    if (moved.length > 0) await processHeld(app, next.pipeline_id)
  })
}

async function nextFor({ db }: App, id: number): Promise<Job | null> {
  const group = await db.selectFrom('resource_groups').selectAll().where('id', '=', id).executeTakeFirst()
  const jobs = db.selectFrom('ci_jobs').selectAll().where('resource_group_id', '=', id).where('retried', '=', false)
  if (!group || (await jobs.where('status', 'in', HOLDING).limit(1).executeTakeFirst())) return null
  if (group.process_mode === 'oldest_first') {
    // Those of older pipelines are waited for, too.
    const first = await jobs
      .where('status', 'in', COMING)
      .orderBy('pipeline_id')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    return first?.status === 'waiting_for_resource' ? first : null
  }
  const order = group.process_mode === 'unordered' ? 'asc' : 'desc'
  const waiting = jobs.where('status', '=', 'waiting_for_resource')
  return (await waiting.orderBy('pipeline_id', order).orderBy('id', order).limit(1).executeTakeFirst()) ?? null
}
