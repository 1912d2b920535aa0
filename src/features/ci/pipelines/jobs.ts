import { MINUTE } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { dropRef } from '../../../git/refs/pointing.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { isLate, type LatePush } from '../../repository/gate/following.ts'
import { cancelNeedless } from './auto-cancel.ts'
import { cancelPipeline } from './cancel.ts'
import { CANCEL_CHILDREN, childrenOf, type CancelChildren } from './children.ts'
import { begin, pipelineRef } from './create.ts'
import { forgetMarks } from './marks.ts'
import { processPipeline } from './process.ts'
import { runPushed } from './pushes.ts'
import { isFinished } from './status.ts'

export const FOLLOW_LATE = { name: 'ci.follow_push' }

export const followLate = job<LatePush>(
  FOLLOW_LATE.name,
  async (app, late) => {
    if (!(await isLate(app, FOLLOW_LATE, late))) return
    const { project_id, since, holder: _, ...pushed } = late
    const project = await findProjectById(app.db, project_id)
    if (project) await runPushed(app, { project, ...pushed, since })
  },
  { recovers: true },
)

export const cancelChildren = job<CancelChildren>(CANCEL_CHILDREN.name, async (app, { id, by }) => {
  for (const child of await childrenOf(app.db, [id]))
    await (by === undefined ? cancelPipeline(app, child) : cancelNeedless(app, child, by))
})

const MOST_AT_ONCE = 100

/** Continues pipelines whose process ended after it wrote the rows. Processing a pipeline twice is harmless. */
export const recoverPipelines = job<object>(
  'ci.recover_pipelines',
  async (app) => {
    const left = await app.db
      .selectFrom('pipelines')
      .select(['id', 'sha', 'project_id'])
      .where('status', '=', 'created')
      .orderBy('created_at')
      .limit(MOST_AT_ONCE)
      .execute()
    for (const pipeline of left) {
      const project = await findProjectById(app.db, pipeline.project_id)
      if (!project) continue
      await begin(repositoryDir(app, project), pipeline)
      await processPipeline(app, pipeline.id)
    }
    await forgetMarks(app)
  },
  { every: MINUTE, recovers: true },
)

export const SETTLE_REF = { name: 'ci.settle_ref' }

/** Deletes the ref of a finished pipeline, because no runner fetches it any more. The commit stays. */
export const settleRef = job<{ id: number; project_id: number }>(SETTLE_REF.name, async (app, { id, project_id }) => {
  const project = await findProjectById(app.db, project_id)
  if (!project) return
  const dir = repositoryDir(app, project)
  const findPipeline = () =>
    app.db.selectFrom('pipelines').select(['id', 'sha', 'status']).where('id', '=', id).executeTakeFirst()
  const ended = await findPipeline()
  if (!ended || isFinished(ended.status)) await dropRef(dir, pipelineRef(id))
  // A user may have restarted the pipeline meanwhile.
  const pipeline = await findPipeline()
  if (pipeline && !isFinished(pipeline.status)) await begin(dir, pipeline)
})
