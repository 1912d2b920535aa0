import { family } from '../../family.ts'
import { leaveResourceEvents } from './farewell.ts'
import * as routes from './routes.ts'

export const resourceEvents = family({ routes, farewell: leaveResourceEvents })
