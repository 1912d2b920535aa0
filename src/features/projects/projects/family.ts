import { family } from '../../family.ts'
import { emptyBin } from './bin.ts'
import { releaseProjects } from './user-removal.ts'
import { removeLater, removeRepositoryLater, removeRestLater } from './removal.ts'
import * as routes from './routes.ts'
import { replaceProjectSecrets } from './secrets.ts'
import * as web from './web.ts'

export const projects = family({
  routes,
  jobs: [emptyBin, removeLater, removeRepositoryLater, removeRestLater],
  onUserRemoved: releaseProjects,
  secretReset: replaceProjectSecrets,
  web: [web.routes],
})
