import { DAY, after } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { VALID_FOR } from './queries.ts'

/** Deletes invitations that nobody accepted in time. */
export const purgeInvitations = job(
  'invitations.purge',
  async (app) => {
    await app.db.deleteFrom('invitations').where('created_at', '<=', after(app.clock, -VALID_FOR)).execute()
  },
  { every: DAY },
)
