import { family } from '../../family.ts'
import * as routes from './routes.ts'

export const commitComments = family({ routes })
