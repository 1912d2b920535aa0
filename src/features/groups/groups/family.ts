import { family } from '../../family.ts'
import { leaveGroups } from './farewell.ts'
import { removeGroups } from './removal.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const groups = family({
  routes,
  jobs: [removeGroups],
  farewell: leaveGroups,
  web: [web.routes],
})
