import { family } from '../../family.ts'
import { findLostJobs, returnLostJobs } from './handovers.ts'
import * as jobRoutes from './job-routes.ts'
import * as routes from './routes.ts'
import { endVigils } from './web.ts'

export const runnerProtocol = family({
  routes: { ...routes, ...jobRoutes },
  jobs: [findLostJobs, returnLostJobs],
  web: [endVigils],
})
