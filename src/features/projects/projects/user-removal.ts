import type { OnUserRemoved } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { updateNamespace } from '../../identity/namespaces/service.ts'
import { forgetStarsOf } from '../stars/service.ts'
import { areLight, markProjectsDeleted, removeProjectsIn, removeRestLater } from './removal.ts'

/**
 * Deletes the personal projects of a removed user. Their projects elsewhere stay, and the successor becomes the
 * creator. If there are many projects or much content, a background job deletes most of it with the namespace, so that
 * other writes can proceed.
 */
export const releaseProjects: OnUserRemoved = async (app, user, { successor }) => {
  const { db } = app
  const own = await db.selectFrom('namespaces').select('id').where('owner_id', '=', user.id).execute()
  for (const { id } of own) {
    if ((await areLight(app, id)) && (await removeProjectsIn(app, id))) continue
    await markProjectsDeleted(app, id)
    await updateNamespace(app, id, { owner_id: null, deleting: true })
    await enqueue(app, removeRestLater, { namespace: id })
  }
  await forgetStarsOf(app, user.id)
  await db
    .updateTable('projects')
    .set({ creator_id: successor?.id ?? null })
    .where('creator_id', '=', user.id)
    .execute()
}
