import { HOUR, after, today } from '../../../clock.ts'
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

const ROWS_A_TURN = 1000

/** Long after nobody can undo the removal, so that no event of it is open any more. */
export const purgeRemoved = job(
  'members.purge_removed',
  async ({ db, clock }) => {
    for (;;) {
      const old = db
        .selectFrom('removed_members')
        .select('id')
        .where('removed_at', '<', after(clock, -24 * HOUR))
        .orderBy('removed_at')
        .limit(ROWS_A_TURN)
      const { numDeletedRows } = await db.deleteFrom('removed_members').where('id', 'in', old).executeTakeFirst()
      if (numDeletedRows < ROWS_A_TURN) return
    }
  },
  { every: HOUR },
)
