import { family } from '../../family.ts'
import { purgeRefChanges, releaseUndoRefs } from './jobs.ts'
import * as routes from './routes.ts'

export const refChanges = family({ routes, jobs: [purgeRefChanges, releaseUndoRefs] })
