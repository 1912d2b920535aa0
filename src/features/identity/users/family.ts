import { family } from '../../family.ts'
import { checkDirectoryPeople } from './jobs.ts'
import { askForApproval, reconfirm, sendApprovalMail, welcome } from './on.ts'
import * as routes from './routes.ts'
import * as standingRoutes from './state-routes.ts'
import * as web from './web.ts'

export const users = family({
  routes,
  jobs: [checkDirectoryPeople],
  reactions: [welcome, reconfirm, askForApproval, sendApprovalMail],
  blobs: [{ table: 'users', column: 'avatar_digest' }],
  web: [web.routes],
})

export const userStates = family({ routes: standingRoutes })
