import { job } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { isLate, type LatePush } from '../../repository/gate/following.ts'
import { carryOutOptions } from './service.ts'

export const FOLLOW_OPTIONS = { name: 'merge_requests.push_options' }

export const followOptions = job<LatePush>(
  FOLLOW_OPTIONS.name,
  async (app, late) => {
    if (!(await isLate(app, FOLLOW_OPTIONS, late))) return
    const { project_id, since, holder: _, ...pushed } = late
    const project = await findProjectById(app.db, project_id)
    if (project) await carryOutOptions(app, { project, ...pushed }, since)
  },
  { recovers: true },
)
