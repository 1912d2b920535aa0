import { family } from '../../family.ts'
import { runCreated, runPushedTo } from './on.ts'
import * as routes from './routes.ts'

export const mergeRequestPipelines = family({ routes, reactions: [runCreated, runPushedTo] })
