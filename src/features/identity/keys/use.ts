import { DAY, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'

/** Written at most once a day, because a key may be used many times a minute. */
export async function noteKeyUse({ db, clock, config }: App, { id, last_used_at }: Row<'keys'>): Promise<void> {
  const isRecent = last_used_at !== null && Date.parse(last_used_at) > clock.now().getTime() - DAY
  if (isRecent || config.readOnly) return
  await db
    .updateTable('keys')
    .set({ last_used_at: timestamp(clock) })
    .where('id', '=', id)
    .execute()
}
