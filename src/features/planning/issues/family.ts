import { family } from '../../family.ts'
import { leaveIssues } from './farewell.ts'
import { unassignLeaver } from './on.ts'
import * as routes from './routes.ts'

export const issues = family({ routes, reactions: [unassignLeaver], farewell: leaveIssues })
