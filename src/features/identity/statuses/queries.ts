import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'

export type UserStatus = Row<'user_statuses'>

const statusOf = hotQuery((db, p: { user_id: number; now: string }) =>
  db
    .selectFrom('user_statuses')
    .selectAll()
    .where('user_id', '=', p.user_id)
    .where((eb) => eb.or([eb('clear_at', 'is', null), eb('clear_at', '>', p.now)])),
)

/** The current status. */
export async function findStatus(app: App, user: { id: number }): Promise<UserStatus | null> {
  return (await statusOf(app.db, { user_id: user.id, now: timestamp(app.clock) }))[0] ?? null
}
