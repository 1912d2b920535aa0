import { family } from '../../family.ts'
import { leaveNotes } from './farewell.ts'
import * as routes from './routes.ts'
import * as snippetRoutes from './snippet-routes.ts'

export const notes = family({ routes, farewell: leaveNotes })
export const snippetNotes = family({ routes: snippetRoutes })
