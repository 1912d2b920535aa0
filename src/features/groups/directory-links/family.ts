import { family } from '../../family.ts'
import { syncMembers, syncAllMembers } from './jobs.ts'
import { joinLinkedGroups } from './on.ts'
import * as routes from './routes.ts'

export const directoryLinks = family({
  routes,
  jobs: [syncMembers, syncAllMembers],
  reactions: [joinLinkedGroups],
})
