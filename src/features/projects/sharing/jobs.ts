import { HOUR, today } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { unshareProject } from './service.ts'

const AT_A_TIME = 100

/** Deletes expired shares, each in its own transaction. Runs hourly, so that a share ends soon after midnight. */
export const purgeExpiredShares = job(
  'projects.purge_expired_shares',
  async (app) => {
    for (;;) {
      const expired = await app.db
        .selectFrom('project_shares')
        .select(['id', 'project_id', 'group_id'])
        .where('expires_at', '<=', today(app.clock))
        .orderBy('id')
        .limit(AT_A_TIME)
        .execute()
      for (const link of expired) await unshareProject(app, link)
      if (expired.length < AT_A_TIME) return
    }
  },
  { every: HOUR },
)
