import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { UserScope } from '../user-scopes.ts'

export const email = ({ resource }: UserScope) =>
  child(resource, {
    name: 'Email',
    key: 'email',
    params: { email_id: id },
    find: (app, { owner }, { email_id }) => emailsOf(app.db, owner).where('id', '=', email_id).executeTakeFirst(),
  })

const emailsOf = (db: Db, { id }: User) => db.selectFrom('emails').selectAll().where('user_id', '=', id)

export const listEmails = (db: Db, owner: User, page: PageRequest): Promise<Page<Row<'emails'>>> =>
  pageOfQuery(emailsOf(db, owner).orderBy('id', 'desc'), page)

/** By user id, in lower case. */
export async function confirmedEmails(db: Db, users: readonly number[]): Promise<Map<number, Set<string>>> {
  const ids = [...new Set(users)]
  if (ids.length === 0) return new Map()
  const primary = db.selectFrom('users').select(['id as user_id', 'email']).where('confirmed_at', 'is not', null)
  const all = await primary
    .where('id', 'in', ids)
    .unionAll(
      db
        .selectFrom('emails')
        .select(['user_id', 'email'])
        .where('user_id', 'in', ids)
        .where('confirmed_at', 'is not', null),
    )
    .execute()
  const byUser = new Map(ids.map((id) => [id, new Set<string>()]))
  for (const { user_id, email } of all) byUser.get(user_id)!.add(email.toLowerCase())
  return byUser
}
