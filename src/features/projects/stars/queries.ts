import type { Page, PageWish } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import type { Given } from '../../../store/hot.ts'
import { hotList } from '../../../store/lists.ts'
import { among, peopleOf, type People } from '../../access/members/people.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { LoadedStar } from './entity.ts'

const stars = hotList<People & { project_id?: number }, 'stars'>({
  table: 'stars',
  counted: ['stars', 'users'],
  narrow: (query, filter, given, db) =>
    query
      .where('stars.project_id', '=', filter.project_id!)
      .where(among(db, 'stars.user_id', filter, given as Given<People>)),
  order: (query) => query.orderBy('stars.user_id', 'desc'),
})

/** By a part of a name or username; addresses are nobody's business here. */
export async function listStarrers(
  db: Db,
  project_id: number,
  search: string | null | undefined,
  page: PageWish,
): Promise<Page<LoadedStar>> {
  const { items, total } = await stars(db, { ...peopleOf(db, { query: search }, false), project_id }, page)
  return { total, items: await withUsers(db, items, { user: 'user_id' }) }
}
