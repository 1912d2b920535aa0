import { family } from '../../family.ts'
import { releaseIssues } from './user-removal.ts'
import { issueItems } from './item.ts'
import { unassignFormerMember } from './on.ts'
import * as placeRoutes from './scope-routes.ts'
import * as routes from './routes.ts'

export const issues = family({
  routes: { ...routes, ...placeRoutes },
  reactions: [unassignFormerMember],
  items: issueItems,
  onUserRemoved: releaseIssues,
})
