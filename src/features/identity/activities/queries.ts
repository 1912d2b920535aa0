import type { Page, PageWish } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { totalOf } from '../../../store/counts.ts'
import type { Db } from '../../../store/database.ts'

export type Activity = Pick<User, 'username' | 'last_activity_on'>

/** Whoever was active on that day or later, the longest silent first. */
export async function listActivities(db: Db, from: string, { limit, offset }: PageWish): Promise<Page<Activity>> {
  const active = db.selectFrom('users').select(['username', 'last_activity_on']).where('last_activity_on', '>=', from)
  const items = await active.orderBy('last_activity_on').orderBy('id').limit(limit).offset(offset).execute()
  return { items, total: await totalOf(db, ['user_activity'], active) }
}
