import type { OnUserRemoved } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { updateNamespace } from '../../identity/namespaces/service.ts'
import { forgetStarsOf } from '../stars/service.ts'
import { areLight, markProjectsDeleted, removeProjectsIn, removeRestLater } from './removal.ts'

/**
 * Personal projects go with their owner; what they made elsewhere stays and is the heir's. Where there are many, or much is in
 * them, most go after the owner, with the namespace they are in: everybody else writes meanwhile.
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
