import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { totalOf } from '../../../store/counts.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'

export type Activity = Pick<User, 'username' | 'last_activity_on'>

/** Users who were active on that day or later, least recently active first. */
export function listActivities(db: Db, from: string, page: PageRequest): Promise<Page<Activity>> {
  const active = db.selectFrom('users').select(['username', 'last_activity_on']).where('last_activity_on', '>=', from)
  const count = () => totalOf(db, ['user_activity'], active)
  return pageOfQuery(active.orderBy('last_activity_on').orderBy('id'), page, count)
}
