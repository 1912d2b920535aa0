import { family } from '../../family.ts'
import * as web from './web.ts'

export const docs = family({ web: [web.routes] })
