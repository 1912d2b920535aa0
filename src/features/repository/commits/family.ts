import { family } from '../../family.ts'
import { leaveCommits } from './farewell.ts'
import * as routes from './routes.ts'

export const commits = family({
  routes,
  farewell: leaveCommits,
})
