import { family } from '../../family.ts'
import { releaseMergeRequests } from './user-removal.ts'
import { mergeRequestItems } from './item.ts'
import { closeOfDeleted, closeOfUnlinked, dropRefs, unassignFormerMember } from './on.ts'
import * as listRoutes from './list-routes.ts'
import * as routes from './routes.ts'

export const mergeRequests = family({
  routes: { ...routes, ...listRoutes },
  reactions: [unassignFormerMember, closeOfDeleted, closeOfUnlinked, dropRefs],
  items: mergeRequestItems,
  onUserRemoved: releaseMergeRequests,
})
