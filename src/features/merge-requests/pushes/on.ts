import { on } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { FOLLOW_OPTIONS } from './jobs.ts'
import { isMergeRequestOption } from './options.ts'
import { followBranches } from './service.ts'

const LATE_MS = 60_000

/** For pushes whose process ended before it came to it. Options wait until every other push has carried out its own. */
export const followTold = on(
  'repository.changed',
  'merge requests',
  async (app, { project_id, by, updates, options }, { at }) => {
    const project = await findProjectById(app.db, project_id)
    if (!project) return
    await followBranches(app, { project, by, updates, options })
    if (by === null || !options.some(isMergeRequestOption)) return
    const delay = Math.max(0, Date.parse(at) + LATE_MS - app.clock.now().getTime())
    await enqueue(app, FOLLOW_OPTIONS, { project_id, by, updates, options, since: at }, { delay })
  },
  { when: ({ wiki }) => !wiki },
)
