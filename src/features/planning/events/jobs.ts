import { sql } from 'kysely'
import { DAY, after } from '../../../clock.ts'
import { job } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'

const KEPT = 3 * 365 * DAY
const AT_A_TIME = 1000

/** Merges several rows of one kind into one. Rows added meanwhile stay. */
async function putSpansTogether(db: Db): Promise<void> {
  const kind = sql`author_id, unit, start, project_id, kind, reserved`
  if (locksRows(db)) {
    await sql`with loose as (delete from activity_spans where (${kind}) in
        (select ${kind} from activity_spans group by ${kind} having count(*) > 1) returning *)
      insert into activity_spans (${kind}, total) select ${kind}, sum(total) from loose group by ${kind}`.execute(db)
  }
  await sql`delete from activity_spans where total = 0`.execute(db)
}

/** Deletes old activities. */
export const purgeActivities = job(
  'activities.purge',
  async ({ db, clock }) => {
    for (;;) {
      const { numAffectedRows = 0n } = await sql`delete from activities where id in (select id from activities
        where created_at < ${after(clock, -KEPT)} order by created_at limit ${AT_A_TIME})`.execute(db)
      if (numAffectedRows < AT_A_TIME) break
    }
    await putSpansTogether(db)
  },
  { every: DAY },
)
