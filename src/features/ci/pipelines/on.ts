import { on } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { enqueueLate, latePush } from '../../repository/gate/following.ts'
import { branchOf, isNewTip, tagOf } from '../../repository/gate/updates.ts'
import { followDownstream, makeDownstream } from './downstream.ts'
import { FOLLOW_LATE, SETTLE_REF } from './jobs.ts'
import { releaseRef } from './latest.ts'
import { isFinished } from './status.ts'

/** For pushes whose process ended before it created the pipelines. */
export const createPipelinesOfPush = on(
  'repository.changed',
  'pipelines',
  async (app, pushed, { at }) => enqueueLate(app, FOLLOW_LATE, latePush(pushed, at)),
  { when: ({ wiki, by, updates }) => !wiki && by !== null && updates.some(isNewTip) },
)

/** Artifacts of the newest pipeline of a branch are kept only while the branch exists. */
export const releaseDeleted = on(
  'repository.changed',
  'artifacts',
  async (app, { project_id, updates }) => {
    for (const { ref: whole, after } of updates) {
      const branch = branchOf(whole)
      const ref = branch ?? tagOf(whole)
      if (ref !== null && after === null) await releaseRef(app, { project_id, ref, tag: branch === null })
    }
  },
  { when: ({ wiki, updates }) => !wiki && updates.some(({ after }) => after === null) },
)

export const startBridge = on(
  'job.changed',
  'downstream pipelines',
  async (app, { id }) => {
    await makeDownstream(app, id)
  },
  { when: ({ kind, status }) => kind === 'bridge' && status === 'pending' },
)

export const showDownstream = on('pipeline.changed', 'bridges', async (app, { id }) => {
  const pipeline = await app.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst()
  if (pipeline && pipeline.bridge_id !== null) await followDownstream(app, pipeline)
})

export const settleRefs = on(
  'pipeline.changed',
  'refs of pipelines',
  async (app, { id, project_id }) => {
    await enqueue(app, SETTLE_REF, { id, project_id })
  },
  { when: ({ status }) => isFinished(status) },
)
