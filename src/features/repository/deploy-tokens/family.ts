import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { forgetSecrets } from './secrets.ts'

export const deployTokens = family({ routes, secretReset: forgetSecrets })
