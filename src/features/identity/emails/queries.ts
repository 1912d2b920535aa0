import type { Page, PageWish } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Belonging } from '../belongings.ts'

export const email: Belonging<Row<'emails'>> = {
  name: 'Email',
  param: 'email_id',
  find: (db, owner, id) => emailsOf(db, owner).where('id', '=', id).executeTakeFirst(),
}

const emailsOf = (db: Db, { id }: User) => db.selectFrom('emails').selectAll().where('user_id', '=', id)

export const listEmails = (db: Db, owner: User, page: PageWish): Promise<Page<Row<'emails'>>> =>
  pageOfQuery(emailsOf(db, owner).orderBy('id', 'desc'), page)
