import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'

const SIDES = {
  followers: { of: 'f.followee_id', who: 'f.follower_id' },
  following: { of: 'f.follower_id', who: 'f.followee_id' },
} as const

/** Active users only, by id. */
export function listFollows(db: Db, { id }: User, side: keyof typeof SIDES, page: Cut): Promise<Page<User>> {
  const { of, who } = SIDES[side]
  const query = db
    .selectFrom('user_follows as f')
    .innerJoin('users', 'users.id', who)
    .selectAll('users')
    .where(of, '=', id)
    .where('users.state', '=', 'active')
    .orderBy(who)
  return pageOfQuery(query, page)
}
