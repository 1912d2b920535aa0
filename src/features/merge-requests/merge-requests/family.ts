import { family } from '../../family.ts'
import { leaveMergeRequests } from './farewell.ts'
import { closeOfDeleted, closeOfUnlinked, dropRefs, unassignLeaver } from './on.ts'
import * as listRoutes from './list-routes.ts'
import { replanMergeRequests } from './replanning.ts'
import * as routes from './routes.ts'

export const mergeRequests = family({
  routes: { ...routes, ...listRoutes },
  reactions: [unassignLeaver, closeOfDeleted, closeOfUnlinked, dropRefs],
  farewell: leaveMergeRequests,
  replanning: replanMergeRequests,
})
