/** Resource groups: one job at a time has the resource. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { lockPipeline, processLocked } from '../pipelines/process.ts'
import type { Job } from './model.ts'
import { moveJobs } from './steps.ts'

const HOLDING = ['pending', 'running', 'canceling'] as const
const COMING = ['created', 'scheduled', 'waiting_for_resource'] as const

type Group = Pick<Row<'resource_groups'>, 'id' | 'process_mode'>

/**
 * The jobs that will get the resource, in order. `oldest_first` and `newest_first` order pipelines, and wait for jobs
 * of a pipeline that are not ready yet. Within one pipeline, ready jobs come first, because the others may wait for
 * them.
 */
export function upcomingOf(db: Db, { id, process_mode }: Group) {
  const isPatient = process_mode === 'oldest_first' || process_mode === 'newest_first'
  return db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('resource_group_id', '=', id)
    .where('retried', '=', false)
    .where('status', 'in', isPatient ? COMING : ['waiting_for_resource'])
    .orderBy('pipeline_id', process_mode.startsWith('newest') ? 'desc' : 'asc')
    .orderBy(sql`case status when 'waiting_for_resource' then 0 else 1 end`)
    .orderBy('id')
}

/** Gives a free resource to the next waiting job. Idempotent. */
export async function assignResource(app: App, id: number): Promise<void> {
  await transact(app, async (app) => {
    await lockName(app.db, `resource group ${id}`)
    const next = await nextFor(app, id)
    if (!next) return
    await lockPipeline(app, next.pipeline_id)
    const moved = await moveJobs(app, [next.id], 'pending')
    if (moved.length > 0) await processLocked(app, next.pipeline_id)
  })
}

async function nextFor({ db }: App, id: number): Promise<Job | null> {
  const group = await db.selectFrom('resource_groups').selectAll().where('id', '=', id).executeTakeFirst()
  const holder = await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('resource_group_id', '=', id)
    .where('retried', '=', false)
    .where('status', 'in', HOLDING)
    .limit(1)
    .executeTakeFirst()
  if (!group || holder) return null
  const first = await upcomingOf(db, group).limit(1).executeTakeFirst()
  return first?.status === 'waiting_for_resource' ? first : null
}
