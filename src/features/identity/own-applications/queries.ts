import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { UserScope } from '../user-scopes.ts'
import type { Application } from '../oauth/queries.ts'

const applicationsOf = (db: Db, { id }: User) =>
  db.selectFrom('oauth_applications').selectAll().where('owner_id', '=', id)

export const ownApplication = ({ resource }: UserScope) =>
  child(resource, {
    name: 'Application',
    key: 'application',
    params: { application_id: id },
    find: (app, { owner }, { application_id }) =>
      applicationsOf(app.db, owner).where('id', '=', application_id).executeTakeFirst(),
  })

export const listOwnApplications = (db: Db, owner: User, page: PageRequest): Promise<Page<Application>> =>
  pageOfQuery(applicationsOf(db, owner).orderBy('id', 'desc'), page)

export async function countOwnApplications(db: Db, { id }: User): Promise<number> {
  const { count } = await db
    .selectFrom('oauth_applications')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}
