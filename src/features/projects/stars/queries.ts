import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { longList } from '../../../store/lists.ts'
import { among, peopleOf, type People } from '../../access/members/people.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { LoadedStar } from './entity.ts'

const stars = longList<People & { project_id: number }, 'stars', 'user_id'>({
  table: 'stars',
  key: 'user_id',
  counted: ['stars', 'users'],
  always: (filter, { db, given }) => [
    sql`stars.project_id = ${filter.project_id}`,
    among(db, 'stars.user_id', filter, given),
  ],
  orders: { user_id: null },
  usual: () => ['user_id', 'desc'],
})

/** Searches names and usernames, but not email addresses. */
export async function listStarrers(
  db: Db,
  project_id: number,
  search: string | null | undefined,
  page: PageRequest,
): Promise<Page<LoadedStar>> {
  const { items, total } = await stars(db, { ...peopleOf(db, { query: search }, 'none'), project_id }, page)
  return { total, items: await withUsers(db, items, { user: 'user_id' }) }
}
