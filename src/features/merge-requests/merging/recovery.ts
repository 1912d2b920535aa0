/**
 * Merges whose process ended between saying what was about to happen and having done it. If the target has the commit
 * they are finished, whoever else may be at it; if not, they are given up together with the change they are part of.
 */
import { MINUTE, after } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { isAncestor } from '../../../git/history/history.ts'
import { findEnded } from '../../../jobs/processes.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { refreshSource } from '../versions/refresh.ts'
import { unlock } from './accept.ts'
import { followMerge } from './effects.ts'
import { finishMerge } from './finish.ts'
import type { Merging } from './model.ts'

/** Between the steps lie milliseconds, unless the gate has much to look at. */
const SETTLED = MINUTE / 2
/** To move one ref takes less. The change of a merge that names no process stands until then. */
const OVER = 12 * MINUTE

export const finishMerges = job(
  'merge_requests.finish_merges',
  async (app) => {
    const left = await app.db.selectFrom('merge_requests').selectAll().where('merging', 'is not', null).execute()
    for (const one of left) await recover(app, one)
  },
  { every: SETTLED, long: true, recovers: true },
)

async function recover(app: App, one: MergeRequest): Promise<void> {
  const { commit, at, holder = null } = JSON.parse(one.merging!) as Merging
  const isOrphan = (await findEnded(app.db, [holder])).size > 0
  if (at > after(app.clock, -SETTLED) && !isOrphan) return
  const project = await findProjectById(app.db, one.project_id)
  if (!project) return
  // Asked in this order: what is told is pending no more.
  const isUnderWay = !isOrphan && at > after(app.clock, -OVER) && (await hasPending(app, one, commit))
  const dir = repositoryDir(app, project)
  if ((await wasTold(app, commit, at)) || (await isAncestor(dir, commit, `refs/heads/${one.target_branch}`))) {
    await finishMerge(app, one.id)
    return followMerge(app, one.id)
  }
  if (isUnderWay) return
  const unlocked = await unlock(app, one, null)
  // Pushes that came meanwhile were not looked at.
  if (unlocked) await freshlyChecked(app, await refreshSource(app, unlocked, project), project)
}

/** The branch may have been moved on since, or be gone. */
async function wasTold({ db }: App, commit: string, since: string): Promise<boolean> {
  const told = await db
    .selectFrom('events')
    .select('id')
    .where('name', '=', 'repository.changed')
    .where('created_at', '>=', since)
    .where('payload', 'like', `%"after":"${commit}"%`)
    .executeTakeFirst()
  return told !== undefined
}

/** Whether the change that brings the commit is on record, and may still come about. */
async function hasPending({ db }: App, { project_id }: MergeRequest, commit: string): Promise<boolean> {
  const rows = await db.selectFrom('pending_changes').select('updates').where('project_id', '=', project_id).execute()
  return rows.some(({ updates }) => updates.includes(commit))
}
