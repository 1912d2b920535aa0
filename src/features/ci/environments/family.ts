import { family } from '../../family.ts'
import * as deploymentRoutes from './deployment-routes.ts'
import { stopDueEnvironments } from './jobs.ts'
import { followJobs, stopDeleted } from './on.ts'
import * as routes from './routes.ts'

export const environments = family({ routes, jobs: [stopDueEnvironments], reactions: [followJobs, stopDeleted] })
export const deployments = family({ routes: deploymentRoutes })
