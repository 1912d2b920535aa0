import { family } from '../../family.ts'
import { leaveAwards } from './farewell.ts'
import * as routes from './routes.ts'
import * as snippetRoutes from './snippet-routes.ts'

export const awardEmoji = family({ routes, farewell: leaveAwards })
export const snippetAwards = family({ routes: snippetRoutes })
