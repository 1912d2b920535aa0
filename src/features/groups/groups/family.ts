import { family } from '../../family.ts'
import { emptyGroupBin } from './bin.ts'
import { releaseGroups } from './user-removal.ts'
import { removeGroups } from './removal.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const groups = family({
  routes,
  jobs: [emptyGroupBin, removeGroups],
  onUserRemoved: releaseGroups,
  web: [web.routes],
})
