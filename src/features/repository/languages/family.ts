import { family } from '../../family.ts'
import { countEarlier } from './jobs.ts'
import * as routes from './routes.ts'

export const languages = family({ routes, jobs: [countEarlier] })
