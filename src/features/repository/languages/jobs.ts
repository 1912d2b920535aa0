import { HOUR } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { listUncounted } from './queries.ts'
import { keepLanguages } from './service.ts'

/** For projects without a push since the server started to store languages. */
export const countEarlier = job(
  'languages.count_earlier',
  async (app, _, signal) => {
    for (let after = 0; !signal.aborted;) {
      const some = await listUncounted(app.db, after)
      for (const { id } of some) {
        const project = signal.aborted ? null : await findProjectById(app.db, id)
        if (project) await keepLanguages(app, project)
      }
      if (some.length === 0) return
      after = some.at(-1)!.id
    }
  },
  { every: HOUR, long: true },
)
