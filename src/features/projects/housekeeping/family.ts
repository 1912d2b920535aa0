import { family } from '../../family.ts'
import { pruneRepository, tidyRepository, tidyPoolLater } from './jobs.ts'
import * as routes from './routes.ts'

export const housekeeping = family({
  routes,
  jobs: [tidyRepository, pruneRepository, tidyPoolLater],
})
