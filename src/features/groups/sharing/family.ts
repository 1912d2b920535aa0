import { family } from '../../family.ts'
import { purgeExpiredGroupShares } from './jobs.ts'
import * as routes from './routes.ts'

export const groupSharing = family({
  routes,
  jobs: [purgeExpiredGroupShares],
})
