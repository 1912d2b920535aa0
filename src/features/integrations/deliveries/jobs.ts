import { HOUR, after } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { LOG_RETENTION } from './log.ts'
import { EXPIRES_AFTER } from './queues.ts'

const AT_ONCE = 1000

/** Deletes old attempts, and deliveries that are done or given up. Messages are deleted with their events. */
export const sweepDeliveries = job(
  'deliveries.sweep',
  async ({ db, clock }) => {
    const old = after(clock, -LOG_RETENTION)
    const attempts = db.selectFrom('hook_attempts').select('id').where('created_at', '<', old).limit(AT_ONCE)
    await untilNone(() => db.deleteFrom('hook_attempts').where('id', 'in', attempts).executeTakeFirst())
    // Only the recursion check reads deliveries that are done, and only for an hour.
    const ended = [['given_up', old] as const, ['done', after(clock, -EXPIRES_AFTER)] as const]
    for (const [state, before] of ended) {
      const some = db
        .selectFrom('hook_deliveries')
        .select('id')
        .where('state', '=', state)
        .where('created_at', '<', before)
        .limit(AT_ONCE)
      await untilNone(() => db.deleteFrom('hook_deliveries').where('id', 'in', some).executeTakeFirst())
    }
  },
  { every: HOUR },
)

async function untilNone(remove: () => Promise<{ numDeletedRows: bigint }>): Promise<void> {
  while ((await remove()).numDeletedRows === BigInt(AT_ONCE));
}
