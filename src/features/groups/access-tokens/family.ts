import { family } from '../../family.ts'
import { warnOfExpiry } from './jobs.ts'
import { removeBotsOfGroup, removeBotsOfProject } from './on.ts'
import * as routes from './routes.ts'

export const resourceAccessTokens = family({
  routes,
  reactions: [removeBotsOfProject, removeBotsOfGroup],
  jobs: [warnOfExpiry],
})
