import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { dropHookTokens } from './secrets.ts'

export const projectHooks = family({ routes, secretReset: dropHookTokens })
