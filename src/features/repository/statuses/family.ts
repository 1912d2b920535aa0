import { family } from '../../family.ts'
import { leaveStatuses } from './farewell.ts'
import * as routes from './routes.ts'

export const commitStatuses = family({ routes, farewell: leaveStatuses })
