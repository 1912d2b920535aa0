import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { renewTriggers } from './secrets.ts'

export const pipelineTriggers = family({ routes, secretReset: renewTriggers })
