import { HOUR, today } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { unshareGroup } from './service.ts'

const AT_A_TIME = 100

/**
 * Ends shares on their expiry day, each in its own transaction. Runs hourly, so that a share ends soon after midnight.
 */
export const purgeExpiredGroupShares = job(
  'groups.purge_expired_shares',
  async (app) => {
    for (;;) {
      const expired = await app.db
        .selectFrom('group_shares')
        .select(['id', 'group_id', 'shared_with_group_id'])
        .where('expires_at', '<=', today(app.clock))
        .orderBy('id')
        .limit(AT_A_TIME)
        .execute()
      for (const share of expired) await unshareGroup(app, share)
      if (expired.length < AT_A_TIME) return
    }
  },
  { every: HOUR },
)
