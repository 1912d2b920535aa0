import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { dropHookSecrets } from './secrets.ts'

export const hooks = family({ routes, secretReset: dropHookSecrets })
