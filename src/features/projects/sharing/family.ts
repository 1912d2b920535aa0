import { family } from '../../family.ts'
import { purgeExpiredShares } from './jobs.ts'
import * as routes from './routes.ts'

export const sharing = family({
  routes,
  jobs: [purgeExpiredShares],
})
