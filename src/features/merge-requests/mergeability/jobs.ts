import { job } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { freshlyChecked } from './check.ts'

const AT_ONCE = 50

/** All that go to a branch that has moved. */
export const checkTarget = job<{ project_id: number; branch: string }>(
  'merge_requests.check',
  async (app, { project_id, branch }, signal) => {
    const project = await findProjectById(app.db, project_id)
    if (!project) return
    for (let after = 0; !signal.aborted;) {
      const some = await app.db
        .selectFrom('merge_requests')
        .selectAll()
        .where('project_id', '=', project_id)
        .where('target_branch', '=', branch)
        .where('state', '=', 'opened')
        .where('id', '>', after)
        .orderBy('id')
        .limit(AT_ONCE)
        .execute()
      for (const one of some) await freshlyChecked(app, one, project)
      if (some.length < AT_ONCE) return
      after = some.at(-1)!.id
    }
  },
  { long: true },
)
