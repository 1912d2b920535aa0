/**
 * Fills the repository of a fork or an import. The row shows the progress: scheduled, started, then either finished or
 * failed. The work stops early if the project is being deleted or the row says that the work is over. The job queue
 * runs a killed run again.
 */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { createRepository, removeRepository } from '../../../git/storage/repositories.ts'
import { enqueue, type Job } from '../../../jobs/queue.ts'
import type { RowChange } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { inspectRepository } from './inspection.ts'
import { PROVISIONING } from '../projects/model.ts'
import type { Project } from '../projects/queries.ts'
import { repositoryDir } from './repository.ts'

/** Runs in the transaction that writes the row. Only one run at a time: the previous run must have ended. */
export async function scheduleProvisioning<P extends { id: number }>(
  app: TransactionApp,
  job: Pick<Job<never, P>, 'name'>,
  payload: P,
): Promise<void> {
  const key = `projects.fill ${payload.id}`
  const other = await app.db.selectFrom('jobs').select('id').where('key', '=', key).executeTakeFirst()
  if (other) throw invalid({ import_url: ['can not be changed while an import is under way'] })
  await enqueue(app, job, payload, { key })
}

export interface Provisioning {
  /** Puts the content in place, all of it or nothing. */
  fill(project: Project, dir: string, signal: AbortSignal): Promise<void>
  /** A short text for the owner, without secrets. */
  explain(error: unknown): string
}

export async function provisionRepository(
  app: App,
  id: number,
  ending: AbortSignal,
  { fill, explain }: Provisioning,
): Promise<void> {
  const project = await begin(app, id)
  if (!project) return
  const dir = repositoryDir(app, project)
  using watch = watchInterest(app, project)
  const signal = AbortSignal.any([watch.signal, ending])
  try {
    // A process that is killed while it moves the content may leave no repository.
    await createRepository(dir, { defaultBranch: project.default_branch })
    await fill(project, dir, signal)
    const inspected = await inspectRepository(dir, project.default_branch)
    await transact(app, async (app) => {
      const done = { ...inspected, import_status: 'finished', import_error: null, import_progress: 100 } as const
      if (await end(app, project, done)) await emit(app, 'project.filled', { id })
    })
  } catch (error) {
    // The process is stopping, but the work will be retried.
    if (ending.aborted) throw error
    if (!watch.signal.aborted) {
      app.log.warn({ err: error, project: id }, 'repository not filled')
      await end(app, project, { import_status: 'failed', import_error: explain(error) })
    }
  } finally {
    await leaveNothing(app, project, dir)
  }
}

async function begin(app: App, id: number): Promise<Project | undefined> {
  return app.db
    .updateTable('projects')
    .set({ import_status: 'started', import_progress: null })
    .where('id', '=', id)
    .where('import_status', 'in', PROVISIONING)
    .where('deleting', '=', false)
    .returningAll()
    .executeTakeFirst()
}

const change = (app: App, { id }: Project, to: RowChange<'projects'>) =>
  app.db.updateTable('projects').set(to).where('id', '=', id).where('import_status', '=', 'started').executeTakeFirst()

/** False if the work was over already. */
async function end(app: App, project: Project, to: RowChange<'projects'>): Promise<boolean> {
  const { numUpdatedRows } = await change(app, project, { ...to, updated_at: timestamp(app.clock) })
  return numUpdatedRows > 0n
}

export async function reportProgress(app: App, project: Project, percent: number): Promise<void> {
  await change(app, project, { import_progress: percent })
}

const LOOK_MS = 2000

/** Aborts if the project is deleted or being deleted, or if the work was canceled. */
function watchInterest(app: App, project: Project): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  const look = async () => {
    const row = await rowOf(app, project)
    if (!row || row.deleting || row.import_status !== 'started') controller.abort(new Error('not wanted any more'))
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) }
}

const rowOf = (app: App, { id }: Project) =>
  app.db.selectFrom('projects').select(['deleting', 'import_status']).where('id', '=', id).executeTakeFirst()

/** Deletes content that arrived after the deletion of its project, because no other code would delete it. */
async function leaveNothing(app: App, project: Project, dir: string): Promise<void> {
  if (!(await rowOf(app, project))) await removeRepository(dir)
}
