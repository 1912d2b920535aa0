/** What follows from a push is done by its own process, before it answers; and later by another one, should it be gone. */
import { MINUTE } from '../../../clock.ts'
import type { App, PushedRefs } from '../../../context.ts'
import { findEnded } from '../../../jobs/processes.ts'
import { enqueue } from '../../../jobs/queue.ts'
import type { Events } from '../../../store/database.ts'

export interface LatePush extends Pick<PushedRefs, 'by' | 'updates' | 'options'> {
  readonly project_id: number
  /** The process that follows it at once. */
  readonly holder?: string | undefined
  readonly since: string
}

export const latePush = (
  { project_id, by, updates, options, holder }: Events['repository.changed'],
  since: string,
): LatePush => ({ project_id, by, updates, options, holder, since })

/** So long after a push every process that lives has followed it. */
const LATE = MINUTE

/** For as long as its own process may come to it; that does not ask whether others have. */
async function patienceFor(app: App, { holder, since }: LatePush): Promise<number> {
  if ((await findEnded(app.db, [holder ?? null])).size > 0) return 0
  return Math.max(0, Date.parse(since) + LATE - app.clock.now().getTime())
}

/** The job must recover what killed processes left: it runs, too early maybe, whenever one is found gone. */
export async function enqueueLate(app: App, job: { readonly name: string }, late: LatePush): Promise<void> {
  await enqueue(app, job, late, { delay: await patienceFor(app, late) })
}

/** False where its own process may still come to it: then the job is enqueued once more. */
export async function isLate(app: App, job: { readonly name: string }, late: LatePush): Promise<boolean> {
  if ((await patienceFor(app, late)) === 0) return true
  await enqueueLate(app, job, late)
  return false
}
