import { family } from '../../family.ts'
import { releaseNotes } from './user-removal.ts'
import * as routes from './routes.ts'
import * as snippetRoutes from './snippet-routes.ts'

export const notes = family({ routes, onUserRemoved: releaseNotes })
export const snippetNotes = family({ routes: snippetRoutes })
