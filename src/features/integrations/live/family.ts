import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { endListening } from './web.ts'

export const live = family({ routes, web: [endListening] })
