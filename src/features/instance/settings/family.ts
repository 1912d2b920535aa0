import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { dropSecrets } from './secrets.ts'

export const settings = family({ routes, secretReset: dropSecrets })
