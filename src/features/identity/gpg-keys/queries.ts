import type { Page, PageWish } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { newestFirst, type Belonging } from '../belongings.ts'

export const gpgKey: Belonging<Row<'gpg_keys'>> = {
  name: 'GPG Key',
  param: 'key_id',
  find: (db, owner, id) => gpgKeysOf(db, owner).where('id', '=', id).executeTakeFirst(),
}

const gpgKeysOf = (db: Db, { id }: User) => db.selectFrom('gpg_keys').selectAll().where('user_id', '=', id)

export const listGpgKeys = (db: Db, owner: User, page: PageWish): Promise<Page<Row<'gpg_keys'>>> =>
  newestFirst(gpgKeysOf(db, owner), page)
