import { family } from '../../family.ts'
import { copyRepositoryOf } from './jobs.ts'
import * as routes from './routes.ts'

export const forks = family({
  routes,
  jobs: [copyRepositoryOf],
})
