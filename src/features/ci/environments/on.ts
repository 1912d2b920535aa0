import { on } from '../../../context.ts'
import { branchOf } from '../../repository/gate/updates.ts'
import { followJob } from './following.ts'
import { stopOfBranches } from './stopping.ts'

export const followJobs = on(
  'job.changed',
  'environments',
  async (app, { id }) => {
    await followJob(app, id)
  },
  { when: ({ kind, status }) => kind === 'job' && status === 'success' },
)

export const stopDeleted = on(
  'repository.changed',
  'environments',
  async (app, { project_id, by, updates }) => {
    const branches = updates.flatMap(({ ref, after }) => (after === null ? (branchOf(ref) ?? []) : []))
    if (branches.length > 0) await stopOfBranches(app, { project_id, by, branches })
  },
  { when: ({ wiki, updates }) => !wiki && updates.some(({ after }) => after === null) },
)
