import { family } from '../../family.ts'
import { dropOldArchives } from './jobs.ts'
import * as routes from './routes.ts'

export const repositories = family({ routes, jobs: [dropOldArchives] })
