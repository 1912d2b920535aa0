import { job } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { renewVersions, type TargetUpdate } from '../versions/renewal.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { RECHECK, checkTogether, freshlyChecked } from './check.ts'

/** Merge requests per git process and per transaction. */
const AT_ONCE = 100

/**
 * All merge requests into a branch that has moved: first their changes are measured again, then the merge check runs.
 */
export const checkTarget = job<{ project_id: number } & TargetUpdate>(
  'merge_requests.check',
  async (app, { project_id, ...update }, signal) => {
    const project = await findProjectById(app.db, project_id)
    if (!project) return
    await renewVersions(app, project, update, { signal })
    for (let after = 0; !signal.aborted;) {
      const some = await app.db
        .selectFrom('merge_requests')
        .selectAll()
        .where('project_id', '=', project_id)
        .where('target_branch', '=', update.branch)
        .where('state', '=', 'opened')
        .where('id', '>', after)
        .orderBy('id')
        .limit(AT_ONCE)
        .execute()
      await checkTogether(app, project, update.branch, some, signal)
      if (some.length < AT_ONCE) return
      after = some.at(-1)!.id
    }
  },
  { long: true },
)

/** Only this job retries the check. Until then readers get `unchecked`. */
export const recheck = job<{ id: number; tries: number }>(
  RECHECK.name,
  async (app, { id, tries }) => {
    const [one] = await findMergeRequests(app.db, [id])
    if (one?.check_result === 'undecided') await freshlyChecked(app, one, null, { tries })
  },
  { long: true },
)
