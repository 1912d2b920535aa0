import { family } from '../../family.ts'
import { keepMilestonesOfTransferred } from './on.ts'
import * as routes from './routes.ts'

export const milestones = family({ routes, reactions: [keepMilestonesOfTransferred] })
