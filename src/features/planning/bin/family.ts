import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { continueMoves, purgeDue } from './service.ts'

export const deletedItems = family({ routes, jobs: [continueMoves, purgeDue] })
