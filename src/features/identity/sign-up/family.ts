import { family } from '../../family.ts'
import * as web from './web.ts'

export const signUp = family({ web: [web.routes] })
