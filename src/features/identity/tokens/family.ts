import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { replaceTokens } from './secrets.ts'

export const tokens = family({ routes, secretReset: replaceTokens })
