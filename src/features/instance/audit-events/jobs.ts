import { DAY, after } from '../../../clock.ts'
import { job } from '../../../context.ts'

const KEPT = 365 * DAY

export const forgetAuditEvents = job(
  'audit_events.forget',
  async ({ db, clock }) => {
    await db.deleteFrom('audit_events').where('created_at', '<', after(clock, -KEPT)).execute()
  },
  { every: DAY },
)
