import { family } from '../../family.ts'
import * as web from './web.ts'

export const health = family({ web: [web.routes] })
