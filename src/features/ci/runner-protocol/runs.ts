import { after } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Job } from '../jobs/model.ts'
import { countMinutes } from '../minutes/service.ts'
import type { Runner } from '../runners/model.ts'

const deleteRuns = hotQuery((db, p: { jobs: string }) =>
  db
    .deleteFrom('ci_runs')
    .where(inIdList(db, 'job_id', p.jobs))
    .returning(['job_id', 'shared_project_id']),
)

/**
 * Deletes the facts that exist only while a runner has the jobs, and counts the used minutes. Runs in the transaction
 * that ends the jobs.
 */
export async function endRuns(app: TransactionApp, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return
  const ids = jobs.map(({ id }) => id)
  const shared = new Map(
    (await deleteRuns(app.db, { jobs: idList(app.db, ids) })).map((run) => [run.job_id, run.shared_project_id]),
  )
  const used = new Map<number, number>()
  for (const { id, started_at, finished_at } of jobs) {
    const project = shared.get(id) ?? null
    if (project === null || started_at === null || finished_at === null) continue
    const seconds = Math.max(0, (Date.parse(finished_at) - Date.parse(started_at)) / 1000)
    used.set(project, (used.get(project) ?? 0) + seconds)
  }
  for (const [project, seconds] of used) await countMinutes(app, project, seconds)
}

interface Run {
  readonly job_id: number
  readonly masks_sealed: string
  readonly deadline_at: string | null
  readonly shared_project_id: number | null
  readonly holder: string
}

const insertRun = hotQuery((db, { job_id, masks_sealed, deadline_at, shared_project_id, holder }: Run) =>
  db
    .insertInto('ci_runs')
    .values({ job_id, masks_sealed, deadline_at, shared_project_id, holder })
    .onConflict((conflict) =>
      conflict
        .column('job_id')
        .doUpdateSet({ masks_sealed, deadline_at, shared_project_id, holder, trace_crc: 0, trace_resets: 0 }),
    ),
)

export async function beginRun(
  { db, vault, clock, holder }: TransactionApp,
  { id, project_id, timeout }: Pick<Job, 'id' | 'project_id' | 'timeout'>,
  { runner_type }: Pick<Runner, 'runner_type'>,
  masks: readonly string[],
): Promise<void> {
  await insertRun(db, {
    job_id: id,
    masks_sealed: vault.seal(JSON.stringify(masks)),
    deadline_at: timeout === null ? null : after(clock, timeout * 1000),
    shared_project_id: runner_type === 'instance_type' ? project_id : null,
    holder,
  })
}

const clearHolders = hotQuery((db, p: { jobs: string }) =>
  db
    .updateTable('ci_runs')
    .set({ holder: null })
    .where(inIdList(db, 'job_id', p.jobs))
    .where('holder', 'is not', null),
)

/** The answers are sent, or the runners have reported. */
export async function noteHandedOver({ db }: App, ids: readonly number[]): Promise<void> {
  await clearHolders(db, { jobs: idList(db, ids) })
}

/** Whether that process still had to deliver the job. */
export async function dropRun(
  { db }: TransactionApp,
  { id, holder }: { id: number; holder: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('ci_runs')
    .where('job_id', '=', id)
    .where('holder', '=', holder)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
