import { family } from '../../family.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const help = family({ routes, web: [web.routes] })
