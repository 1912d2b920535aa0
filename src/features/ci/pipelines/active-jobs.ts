import { DAY, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'

const ALIVE = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running'] as const

export const TOO_MANY_ACTIVE = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.'

/**
 * Whether the additional jobs would exceed the plan's limit on active jobs of a project. Counts pipelines of the last
 * day.
 */
export async function exceedsActiveJobs({ db, clock }: App, project: number, more: number): Promise<boolean> {
  const { ci_active_jobs: most } = await loadLimits(db)
  if (most === 0) return false
  const { active } = await db
    .selectFrom('pipelines')
    .innerJoin('ci_jobs', 'ci_jobs.pipeline_id', 'pipelines.id')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('pipelines.project_id', '=', project)
    .where('pipelines.status', 'in', ALIVE)
    .where('pipelines.created_at', '>', after(clock, -DAY))
    .executeTakeFirstOrThrow()
  return Number(active) + more > most
}
