import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { listUnlinked } from './queries.ts'
import { linkDeployed } from './service.ts'

/** Links deployments from before this table existed, and those whose event failed for the last time. */
export const linkEarlier = job(
  'deployments.link_earlier',
  async (app, _, signal) => {
    for (let after = 0; !signal.aborted;) {
      const some = await listUnlinked(app.db, after)
      for (const { id } of some) if (!signal.aborted) await linkDeployed(app, id)
      if (some.length === 0) return
      after = some.at(-1)!.id
    }
  },
  { every: HOUR, long: true },
)
