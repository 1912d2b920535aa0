import { family } from '../../family.ts'
import { reactions } from './on.ts'
import * as routes from './routes.ts'

export const todos = family({ routes, reactions })
