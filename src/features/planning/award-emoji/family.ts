import { family } from '../../family.ts'
import { releaseAwards } from './user-removal.ts'
import * as routes from './routes.ts'
import * as snippetRoutes from './snippet-routes.ts'

export const awardEmoji = family({ routes, onUserRemoved: releaseAwards })
export const snippetAwards = family({ routes: snippetRoutes })
