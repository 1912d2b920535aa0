import { family } from '../../family.ts'
import * as web from './web.ts'

export const terms = family({ web: [web.routes] })
