import { family } from '../../family.ts'
import { readChanged, readNew, readPushed } from './on.ts'
import * as routes from './routes.ts'

export const closing = family({ routes, reactions: [readNew, readChanged, readPushed] })
