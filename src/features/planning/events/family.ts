import { family } from '../../family.ts'
import { purgeActivities } from './jobs.ts'
import { reactions } from './on.ts'
import * as routes from './routes.ts'

export const events = family({ routes, jobs: [purgeActivities], reactions })
