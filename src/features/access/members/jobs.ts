import { HOUR, today } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { expireMember } from './service.ts'

const AT_A_TIME = 100

/** Removes memberships on their expiry day. The last owner of a group stays until the group has another owner. */
export const purgeExpired = job(
  'members.purge_expired',
  async (app) => {
    for (let last = 0; ;) {
      const expired = await app.db
        .selectFrom('members')
        .select(['id', 'group_id', 'project_id'])
        .where('expires_at', '<=', today(app.clock))
        .where('id', '>', last)
        .orderBy('id')
        .limit(AT_A_TIME)
        .execute()
      for (const member of expired) await expireMember(app, member)
      if (expired.length < AT_A_TIME) return
      last = expired.at(-1)!.id
    }
  },
  { every: HOUR },
)
