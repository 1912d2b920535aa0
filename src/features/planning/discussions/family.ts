import { family } from '../../family.ts'
import * as commitRoutes from './commit-routes.ts'
import * as routes from './routes.ts'
import * as snippetRoutes from './snippet-routes.ts'

export const discussions = family({ routes })
export const commitDiscussions = family({ routes: commitRoutes })
export const snippetDiscussions = family({ routes: snippetRoutes })
