import { family } from '../../family.ts'
import { warnOfExpiry } from './jobs.ts'
import { removeBotsOfGroup, removeBotsOfProject, removeBotsOfPurgedGroup, removeBotsOfPurgedProject } from './on.ts'
import * as routes from './routes.ts'

export const resourceAccessTokens = family({
  routes,
  reactions: [removeBotsOfProject, removeBotsOfPurgedProject, removeBotsOfGroup, removeBotsOfPurgedGroup],
  jobs: [warnOfExpiry],
})
