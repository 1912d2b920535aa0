import { family } from '../../family.ts'
import { pointNew, pointPushed, pointReopened } from './heads.ts'
import * as routes from './routes.ts'

export const mergeRequestVersions = family({ routes, reactions: [pointNew, pointPushed, pointReopened] })
