import { family } from '../../family.ts'
import { reassignRestoredMembers, unassignFormerMembers } from '../../planning/items/users.ts'
import { mergeRequestBin } from './bin.ts'
import { releaseMergeRequests } from './user-removal.ts'
import { mergeRequestItems } from './item.ts'
import { mergeRequestKind } from './kind.ts'
import { closeOfDeleted, closeOfUnlinked, dropRefs } from './on.ts'
import * as listRoutes from './list-routes.ts'
import * as routes from './routes.ts'

export const mergeRequests = family({
  routes: { ...routes, ...listRoutes },
  reactions: [
    unassignFormerMembers(mergeRequestKind),
    reassignRestoredMembers(mergeRequestKind),
    closeOfDeleted,
    closeOfUnlinked,
    dropRefs,
  ],
  items: mergeRequestItems,
  bin: mergeRequestBin,
  onUserRemoved: releaseMergeRequests,
})
