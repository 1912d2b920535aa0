import { family } from '../../family.ts'
import { checkTarget } from './jobs.ts'
import * as routes from './routes.ts'

export const mergeability = family({ routes, jobs: [checkTarget] })
