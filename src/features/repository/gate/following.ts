/**
 * The process of a push does the follow-up work before it answers. If that process ends, another process does the work
 * later.
 */
import { MINUTE } from '../../../clock.ts'
import type { App, PushedRefs } from '../../../context.ts'
import { findEnded } from '../../../jobs/processes.ts'
import { enqueue } from '../../../jobs/queue.ts'
import type { Events } from '../../../store/database.ts'

export interface LatePush extends Pick<PushedRefs, 'by' | 'updates' | 'options'> {
  readonly project_id: number
  /** The process that does the follow-up work at once. */
  readonly holder?: string | undefined
  readonly since: string
}

export const latePush = (
  { project_id, by, updates, options, holder }: Events['repository.changed'],
  since: string,
): LatePush => ({ project_id, by, updates, options, holder, since })

/** After this time, every live process has finished the follow-up work of its pushes. */
const LATE = MINUTE

/**
 * How long to wait, because the process of the push may still do the work. That process does not check whether others
 * have done it.
 */
async function patienceFor(app: App, { holder, since }: LatePush): Promise<number> {
  if ((await findEnded(app.db, [holder ?? null])).size > 0) return 0
  return Math.max(0, Date.parse(since) + LATE - app.clock.now().getTime())
}

/**
 * The job must be one that recovers work of ended processes. It runs whenever a process has ended, which may be too
 * early.
 */
export async function enqueueLate(app: App, job: { readonly name: string }, late: LatePush): Promise<void> {
  await enqueue(app, job, late, { delay: await patienceFor(app, late) })
}

/** False if the process of the push may still do the work. The job is enqueued again then. */
export async function isLate(app: App, job: { readonly name: string }, late: LatePush): Promise<boolean> {
  if ((await patienceFor(app, late)) === 0) return true
  await enqueueLate(app, job, late)
  return false
}
