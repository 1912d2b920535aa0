import { today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'

/** Counts web sign-ins, pushes and fetches, not API calls. Only the first one of a day writes. */
export async function recordActivity(app: App, { id, last_activity_on }: User): Promise<void> {
  const day = today(app.clock)
  if (last_activity_on === day || app.config.readOnly) return
  await app.db
    .updateTable('users')
    .set({ last_activity_on: day })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_activity_on', 'is', null), eb('last_activity_on', '<', day)]))
    .execute()
}
