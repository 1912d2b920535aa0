import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Mount } from '../belongings.ts'

export const email = ({ owner }: Mount) =>
  child(owner, {
    name: 'Email',
    key: 'email',
    params: { email_id: id },
    find: (app, { owner }, { email_id }) => emailsOf(app.db, owner).where('id', '=', email_id).executeTakeFirst(),
  })

const emailsOf = (db: Db, { id }: User) => db.selectFrom('emails').selectAll().where('user_id', '=', id)

export const listEmails = (db: Db, owner: User, page: PageWish): Promise<Page<Row<'emails'>>> =>
  pageOfQuery(emailsOf(db, owner).orderBy('id', 'desc'), page)
