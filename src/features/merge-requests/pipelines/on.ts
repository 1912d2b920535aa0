import { on, type App } from '../../../context.ts'
import { releaseRef } from '../../ci/pipelines/latest.ts'
import { headRef, mergeRef } from '../versions/refs.ts'
import { followMergeRequest } from './service.ts'

export const runCreated = on('merge_request.created', 'pipelines', async (app, { id, by }, { at }) => {
  await followMergeRequest(app, id, by, at)
})

export const runPushedTo = on(
  'merge_request.pushed',
  'pipelines',
  async (app, { id, by }, { at }) => {
    await followMergeRequest(app, id, by, at)
  },
  { when: ({ by, after }) => by !== null && after !== null },
)

/** After the merge request is closed or merged, artifacts of its pipelines expire as usual. */
async function release(app: App, { id }: { id: number }): Promise<void> {
  const one = await app.db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst()
  if (!one || one.state === 'opened') return
  for (const project_id of new Set([one.project_id, one.source_project_id ?? one.project_id]))
    for (const ref of [headRef(one.iid), mergeRef(one.iid)]) await releaseRef(app, { project_id, ref, tag: false })
}

export const releaseMerged = on('merge_request.merged', 'artifacts', release)
export const releaseClosed = on('merge_request.closed', 'artifacts', release)
