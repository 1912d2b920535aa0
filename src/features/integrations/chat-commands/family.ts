import { family } from '../../family.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const chatCommands = family({ routes, web: [web.routes] })
