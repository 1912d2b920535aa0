import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { drain } from '../../../store/draining.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { moveToBin } from '../../planning/bin/service.ts'
import { release, releaseVersions } from '../versions/release.ts'
import { mergeRequestBin } from './bin.ts'
import type { MergeRequest } from './model.ts'
import { lockMergeRequest } from './service.ts'

export async function deleteMergeRequest(app: App, actor: User, one: MergeRequest): Promise<void> {
  if (!(await moveToBin(app, mergeRequestBin, one, actor))) await deleteAtOnce(app, actor, one)
}

async function deleteAtOnce(app: App, actor: User, one: MergeRequest): Promise<void> {
  const { id, project_id, iid, title, state } = one
  if (state !== 'locked') await drain(app, 'merge_requests', id, { except: ['merge_request_versions'] })
  const released = await transact(app, async (app) => {
    const { state } = await lockMergeRequest(app, id)
    // Deleting it now would leave its commits on the target without any record.
    if (state === 'locked') throw new Refusal('conflict', 'The merge request is being merged')
    const released = await releaseVersions(app, [one])
    await app.db.deleteFrom('merge_requests').where('id', '=', id).execute()
    await emit(app, 'merge_request.deleted', { id, project_id, iid, title, by: actor.id })
    return released
  })
  try {
    for (const some of released) await release(app, some)
  } catch (err) {
    app.log.warn({ err, project_id, iid }, 'commits of a deleted merge request are released later')
  }
}
