import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { ASSIGN_RESOURCE } from '../jobs/steps.ts'
import type { ResourceGroup } from './model.ts'

/** Another mode may change which job is next, so the resource is assigned again. */
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
    if (!updated) throw notFound('Resource Group') // a concurrent request deleted the row
    await enqueue(app, ASSIGN_RESOURCE, { id })
    return updated
  })
}
