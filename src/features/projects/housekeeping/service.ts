import { DAY, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { conflict } from '../../../errors.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../projects/queries.ts'
import { tidyRepository } from './jobs.ts'

const TOO_SOON = 'Somebody already triggered housekeeping for this project in the past 1440 minutes'

/** Of several concurrent callers, only one starts housekeeping for the day. */
export async function startHousekeeping(app: App, { id }: Project): Promise<void> {
  await transact(app, async (app) => {
    const begun = await app.db
      .updateTable('projects')
      .set({ housekeeping_at: timestamp(app.clock) })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('housekeeping_at', 'is', null), eb('housekeeping_at', '<=', after(app.clock, -DAY))]))
      .returning('id')
      .executeTakeFirst()
    if (!begun) throw conflict(TOO_SOON)
    await enqueue(app, tidyRepository, { id })
  })
}
