import { family } from '../../family.ts'
import { releaseClosed, releaseMerged, runCreated, runPushedTo } from './on.ts'
import * as routes from './routes.ts'

export const mergeRequestPipelines = family({
  routes,
  reactions: [runCreated, runPushedTo, releaseMerged, releaseClosed],
})
