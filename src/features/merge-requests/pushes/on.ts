import { on } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { enqueueLate, latePush } from '../../repository/gate/following.ts'
import { FOLLOW_OPTIONS } from './jobs.ts'
import { isMergeRequestOption } from './options.ts'
import { followBranches } from './service.ts'

/**
 * Catches up on pushes whose process ended too early. Push options wait until the push itself would have handled them.
 */
export const followPushEvent = on(
  'repository.changed',
  'merge requests',
  async (app, pushed, { at }) => {
    const { project_id, by, updates, options } = pushed
    const project = await findProjectById(app.db, project_id)
    if (!project) return
    await followBranches(app, { project, by, updates, options })
    if (by !== null && options.some(isMergeRequestOption)) await enqueueLate(app, FOLLOW_OPTIONS, latePush(pushed, at))
  },
  { when: ({ wiki }) => !wiki },
)
