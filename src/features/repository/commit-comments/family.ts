import { family } from '../../family.ts'
import { leaveComments } from './farewell.ts'
import * as routes from './routes.ts'

export const commitComments = family({ routes, farewell: leaveComments })
