/**
 * Which of the waiting jobs a runner gets. The queue is what is pending, by a partial index: neither finished jobs nor
 * other projects' histories are looked at. Of several runners that want the same job one gets it, and the others look
 * for the next.
 */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { areAmong } from '../../../store/dialect.ts'
import type { Job } from '../jobs/model.ts'
import { hasMinutesLeft } from '../minutes/service.ts'
import type { Runner } from '../runners/model.ts'

const AT_ONCE = 20

export interface Candidate {
  readonly id: number
  readonly pipeline_id: number
  readonly project_id: number
  readonly namespace_id: number
}

/** In the order of the contract: shared runners go round the projects, others take what waits longest. */
export async function* candidates(app: App, runner: Runner): AsyncGenerator<Candidate> {
  const exhausted = new Map<number, boolean>()
  for (let skipped = 0; ; skipped += AT_ONCE) {
    const found = await candidatesFor(app, runner).limit(AT_ONCE).offset(skipped).execute()
    for (const one of found) {
      if (runner.runner_type === 'instance_type') {
        const isOut = exhausted.get(one.namespace_id) ?? !(await hasMinutesLeft(app, one))
        exhausted.set(one.namespace_id, isOut)
        if (isOut) continue
      }
      yield one
    }
    if (found.length < AT_ONCE) return
  }
}

function candidatesFor({ db }: App, runner: Runner) {
  let query = db
    .selectFrom('ci_jobs as j')
    .innerJoin('projects as p', 'p.id', 'j.project_id')
    .select(['j.id', 'j.pipeline_id', 'j.project_id', 'p.namespace_id'])
    .where('j.status', '=', 'pending')
    .where('j.kind', '=', 'job')
    .where('p.deleting', '=', false)
    .where('p.builds_access_level', '!=', FeatureDisabled)
  if (runner.access_level === 'ref_protected') query = query.where('j.protected', '=', true)
  if (!runner.run_untagged) query = query.where('j.tags', '!=', '[]')
  if (runner.tags === '[]') query = query.where('j.tags', '=', '[]')
  else query = query.where((eb) => eb.or([eb('j.tags', '=', '[]'), areAmong(db, 'j.tags', runner.tags)]))
  if (runner.runner_type === 'project_type')
    return query
      .innerJoin('runner_projects as rp', 'rp.project_id', 'j.project_id')
      .where('rp.runner_id', '=', runner.id)
      .orderBy('j.queued_at')
      .orderBy('j.id')
  if (runner.runner_type === 'group_type')
    return query
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('namespace_ancestors as a')
            .innerJoin('runner_groups as rg', 'rg.group_id', 'a.ancestor_id')
            .select('a.namespace_id')
            .whereRef('a.namespace_id', '=', 'p.namespace_id')
            .where('rg.runner_id', '=', runner.id),
        ),
      )
      .orderBy('j.queued_at')
      .orderBy('j.id')
  const busy = db
    .selectFrom('ci_jobs')
    .innerJoin('runners', 'runners.id', 'ci_jobs.runner_id')
    .select((eb) => ['ci_jobs.project_id', eb.fn.countAll<number>().as('running')])
    .where('ci_jobs.status', 'in', ['running', 'canceling'])
    .where('ci_jobs.kind', '=', 'job')
    .where('runners.runner_type', '=', 'instance_type')
    .groupBy('ci_jobs.project_id')
    .as('busy')
  return query
    .leftJoin(busy, 'busy.project_id', 'j.project_id')
    .where('p.shared_runners_enabled', '=', true)
    .orderBy(sql`coalesce(busy.running, 0)`)
    .orderBy('j.id')
}

export const findWaiting = ({ db }: App, id: number): Promise<Job | undefined> =>
  db.selectFrom('ci_jobs').selectAll().where('id', '=', id).where('status', '=', 'pending').executeTakeFirst()
