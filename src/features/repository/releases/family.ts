import { family } from '../../family.ts'
import * as groupRoutes from './group-routes.ts'
import * as linkRoutes from './link-routes.ts'
import * as routes from './routes.ts'

export const releases = family({ routes })

export const releaseLinks = family({ routes: linkRoutes })

export const groupReleases = family({ routes: groupRoutes })
