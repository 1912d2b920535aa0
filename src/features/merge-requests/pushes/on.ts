import { on } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { followPush } from './service.ts'

/** For pushes whose process ended before it came to it. */
export const followTold = on(
  'repository.changed',
  'merge requests',
  async (app, { project_id, by, updates, options }) => {
    const project = await findProjectById(app.db, project_id)
    if (project) await followPush(app, { project, by, updates, options })
  },
  { when: ({ wiki }) => !wiki },
)
