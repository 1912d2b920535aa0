import { family } from '../../family.ts'
import {
  archiveTraces,
  assignResources,
  dropExpiredArtifacts,
  dropStuckJobs,
  startDelayed,
  startOverdue,
} from './jobs.ts'
import * as routes from './routes.ts'

export const ciJobs = family({
  routes,
  jobs: [assignResources, archiveTraces, startDelayed, startOverdue, dropStuckJobs, dropExpiredArtifacts],
  blobs: [
    { table: 'ci_jobs', column: 'trace_digest' },
    { table: 'ci_artifacts', column: 'digest' },
  ],
})
