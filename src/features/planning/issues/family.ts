import { family } from '../../family.ts'
import { leaveIssues } from './farewell.ts'
import { unassignLeaver } from './on.ts'
import * as placeRoutes from './place-routes.ts'
import * as routes from './routes.ts'

export const issues = family({
  routes: { ...routes, ...placeRoutes },
  reactions: [unassignLeaver],
  farewell: leaveIssues,
})
