import { family } from '../../family.ts'
import { cancelChildren, followLate, recoverPipelines, settleRef } from './jobs.ts'
import { createPipelinesOfPush, releaseDeleted, settleRefs, showDownstream, startBridge } from './on.ts'
import { runPushed } from './pushes.ts'
import * as routes from './routes.ts'

export const pipelines = family({
  routes,
  jobs: [followLate, cancelChildren, recoverPipelines, settleRef],
  reactions: [createPipelinesOfPush, releaseDeleted, startBridge, showDownstream, settleRefs],
  afterPush: runPushed,
})
