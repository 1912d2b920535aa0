import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { dropRunnerSecrets } from './secrets.ts'

export const runners = family({ routes, secretReset: dropRunnerSecrets })
