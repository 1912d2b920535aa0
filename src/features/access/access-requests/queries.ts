import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { Master, Owner } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { SourceColumns } from '../members/model.ts'
import type { LoadedRequest } from './entity.ts'

type AccessRequest = Row<'access_requests'>

const requestsAt = (db: Db, { group_id, project_id }: SourceColumns) => {
  const requests = db.selectFrom('access_requests').selectAll()
  return group_id !== null ? requests.where('group_id', '=', group_id) : requests.where('project_id', '=', project_id)
}

export async function findRequest(db: Db, at: SourceColumns, user: number): Promise<AccessRequest | null> {
  return (await requestsAt(db, at).where('user_id', '=', user).executeTakeFirst()) ?? null
}

export const listRequests = (db: Db, at: SourceColumns, page: PageRequest): Promise<Page<AccessRequest>> =>
  pageOfQuery(requestsAt(db, at).orderBy('id'), page)

export async function loadRequests(db: Db, requests: readonly AccessRequest[]): Promise<LoadedRequest[]> {
  const people = await withUsers(db, requests, { user: 'user_id' })
  return people.map(({ user, requested_at }) => ({ user, requested_at }))
}

/** Limits how many managers get mail about one request. */
const MOST_MANAGERS = 10

/** Some of the active users who manage the members of a group or project, as recipients of mail. */
export async function managersOf(db: Db, { group_id, project_id }: SourceColumns): Promise<User[]> {
  const people = db.selectFrom('users').selectAll().where('state', '=', 'active').where('confirmed_at', 'is not', null)
  const managers =
    group_id !== null
      ? people.where('id', 'in', (eb) =>
          eb
            .selectFrom('namespace_ancestors as a')
            .innerJoin('members as m', 'm.group_id', 'a.ancestor_id')
            .select('m.user_id')
            .where('a.namespace_id', '=', group_id)
            .where('m.access_level', '>=', Owner),
        )
      : people.where('id', 'in', (eb) =>
          eb
            .selectFrom('project_authorizations')
            .select('user_id')
            .where('project_id', '=', project_id)
            .where('access_level', '>=', Master),
        )
  return managers.orderBy('id').limit(MOST_MANAGERS).execute()
}
