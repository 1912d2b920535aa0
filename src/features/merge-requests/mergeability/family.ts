import { family } from '../../family.ts'
import { recheck, checkTarget } from './jobs.ts'
import * as routes from './routes.ts'

export const mergeability = family({ routes, jobs: [checkTarget, recheck] })
