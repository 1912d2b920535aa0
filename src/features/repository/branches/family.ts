import { family } from '../../family.ts'
import { deleteMergedLater } from './jobs.ts'
import * as routes from './routes.ts'

export const branches = family({
  routes,
  jobs: [deleteMergedLater],
})
