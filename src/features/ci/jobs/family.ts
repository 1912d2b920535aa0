import { family } from '../../family.ts'
import {
  archiveTraces,
  assignResources,
  dropExpiredArtifacts,
  dropStuckJobs,
  startDelayed,
  startOverdue,
} from './jobs.ts'
import { releaseRuns } from './user-removal.ts'
import { artifactPage } from './pages.ts'
import * as routes from './routes.ts'
import { replaceCiSecrets } from './secrets.ts'
import * as viewRoutes from './view-routes.ts'

export const ciJobs = family({
  projectPages: [artifactPage],
  routes: { ...routes, ...viewRoutes },
  onUserRemoved: releaseRuns,
  secretReset: replaceCiSecrets,
  jobs: [assignResources, archiveTraces, startDelayed, startOverdue, dropStuckJobs, dropExpiredArtifacts],
  blobs: [
    { table: 'ci_jobs', column: 'trace_digest' },
    { table: 'ci_artifacts', column: 'digest' },
  ],
})
