import { family } from '../../family.ts'
import { linkEarlier } from './jobs.ts'
import { linkAfter } from './on.ts'
import * as routes from './routes.ts'

export const deploymentMergeRequests = family({ routes, jobs: [linkEarlier], reactions: [linkAfter] })
