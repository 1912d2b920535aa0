import { family } from '../../family.ts'
import * as routes from './routes.ts'

export const avatar = family({ routes })
