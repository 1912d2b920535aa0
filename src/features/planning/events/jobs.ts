import { sql } from 'kysely'
import { DAY, after } from '../../../clock.ts'
import { job } from '../../../context.ts'

const KEPT = 3 * 365 * DAY
const AT_A_TIME = 1000

/** What happened long ago is forgotten. */
export const purgeActivities = job(
  'activities.purge',
  async ({ db, clock }) => {
    for (;;) {
      const { numAffectedRows = 0n } = await sql`delete from activities where id in (select id from activities
        where created_at < ${after(clock, -KEPT)} order by created_at limit ${AT_A_TIME})`.execute(db)
      if (numAffectedRows < AT_A_TIME) return
    }
  },
  { every: DAY },
)
