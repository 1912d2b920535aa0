import { family } from '../../family.ts'
import { tidyRepository, tidyPoolLater } from './jobs.ts'
import * as routes from './routes.ts'

export const housekeeping = family({
  routes,
  jobs: [tidyRepository, tidyPoolLater],
})
