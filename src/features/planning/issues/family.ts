import { family } from '../../family.ts'
import { reassignRestoredMembers, releaseItems, unassignFormerMembers } from '../items/users.ts'
import { issueBin } from './bin.ts'
import { issueItems } from './item.ts'
import { issueKind } from './kind.ts'
import * as placeRoutes from './scope-routes.ts'
import * as routes from './routes.ts'

export const issues = family({
  routes: { ...routes, ...placeRoutes },
  reactions: [unassignFormerMembers(issueKind), reassignRestoredMembers(issueKind)],
  items: issueItems,
  bin: issueBin,
  onUserRemoved: (app, { id }, { successor }) => releaseItems(app, issueKind, id, successor?.id ?? null),
})
