import { family } from '../../family.ts'
import { importRepository } from './jobs.ts'
import * as routes from './routes.ts'

export const imports = family({
  routes,
  jobs: [importRepository],
})
