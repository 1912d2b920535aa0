import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { ASSIGN_RESOURCE } from '../jobs/steps.ts'
import type { ResourceGroup } from './model.ts'

/** Another mode may let another job go first: who is next is asked anew. */
export function changeMode(
  app: App,
  { id }: ResourceGroup,
  process_mode: ResourceGroup['process_mode'],
): Promise<ResourceGroup> {
  return transact(app, async (app) => {
    const updated = await app.db
      .updateTable('resource_groups')
      .set({ process_mode, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!updated) throw notFound('Resource Group') // somebody was faster
    await enqueue(app, ASSIGN_RESOURCE, { id })
    return updated
  })
}
