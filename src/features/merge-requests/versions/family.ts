import { family } from '../../family.ts'
import { pointNew, pointPushed, pointReopened } from './heads.ts'
import { releaseCommits } from './release.ts'
import * as routes from './routes.ts'

export const mergeRequestVersions = family({
  routes,
  jobs: [releaseCommits],
  reactions: [pointNew, pointPushed, pointReopened],
})
