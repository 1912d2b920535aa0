import { family } from '../../family.ts'
import { checkAgain, checkTarget } from './jobs.ts'
import * as routes from './routes.ts'

export const mergeability = family({ routes, jobs: [checkTarget, checkAgain] })
