import { job, type PushedRefs } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { carryOutOptions } from './service.ts'

export const FOLLOW_OPTIONS = { name: 'merge_requests.push_options' }

interface Late extends Pick<PushedRefs, 'by' | 'updates' | 'options'> {
  readonly project_id: number
  readonly since: string
}

export const followOptions = job<Late>(FOLLOW_OPTIONS.name, async (app, { project_id, since, ...pushed }) => {
  const project = await findProjectById(app.db, project_id)
  if (project) await carryOutOptions(app, { project, ...pushed }, since)
})
