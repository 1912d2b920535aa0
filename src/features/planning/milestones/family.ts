import { family } from '../../family.ts'
import { milestoneBin } from './bin.ts'
import { reactions } from './on.ts'
import * as routes from './routes.ts'

export const milestones = family({ routes, reactions, bin: milestoneBin })
