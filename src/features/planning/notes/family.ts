import { family } from '../../family.ts'
import { leaveNotes } from './farewell.ts'
import * as routes from './routes.ts'

export const notes = family({ routes, farewell: leaveNotes })
