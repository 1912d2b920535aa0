import { on } from '../../../context.ts'
import { followJob } from './following.ts'

export const followJobs = on(
  'job.changed',
  'environments',
  async (app, { id }) => {
    await followJob(app, id)
  },
  { when: ({ kind, status }) => kind === 'job' && status === 'success' },
)
