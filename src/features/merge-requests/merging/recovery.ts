/**
 * Recovers merges whose process ended between recording the pending change and finishing it. If the target has the
 * commit, the merge is finished, even if another process does the same. If not, the merge is abandoned together with
 * its pending change.
 */
import { MINUTE, after } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { isAncestor } from '../../../git/history/history.ts'
import { findEnded } from '../../../jobs/processes.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { refreshSource } from '../versions/refresh.ts'
import { unlock } from './accept.ts'
import { followMerge } from './effects.ts'
import { finishMerge } from './finish.ts'
import type { Merging } from './model.ts'

/** The steps take milliseconds, unless the gate has a lot to check. */
const SETTLED = MINUTE / 2
/** Moving one ref takes less. Until then, the pending change of a merge without a process counts as running. */
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
  // Keep this order: an emitted event means that the change is no longer pending.
  const isUnderWay = !isOrphan && at > after(app.clock, -OVER) && (await hasPending(app, one, commit))
  const dir = repositoryDir(app, project)
  if ((await wasEmitted(app, commit, at)) || (await isAncestor(dir, commit, `refs/heads/${one.target_branch}`))) {
    await finishMerge(app, one.id)
    return followMerge(app, one.id)
  }
  if (isUnderWay) return
  const unlocked = await unlock(app, one, null)
  // Pushes during the merge were not followed.
  if (unlocked) await freshlyChecked(app, await refreshSource(app, unlocked, project), project)
}

/** The event is the proof: the branch may have moved on since, or be deleted. */
async function wasEmitted({ db }: App, commit: string, since: string): Promise<boolean> {
  const event = await db
    .selectFrom('events')
    .select('id')
    .where('name', '=', 'repository.changed')
    .where('created_at', '>=', since)
    .where('payload', 'like', `%"after":"${commit}"%`)
    .executeTakeFirst()
  return event !== undefined
}

/** Whether the change with this commit is recorded as pending, and may still happen. */
async function hasPending({ db }: App, { project_id }: MergeRequest, commit: string): Promise<boolean> {
  const rows = await db.selectFrom('pending_changes').select('updates').where('project_id', '=', project_id).execute()
  return rows.some(({ updates }) => updates.includes(commit))
}
