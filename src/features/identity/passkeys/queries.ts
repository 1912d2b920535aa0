import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { ownScope } from '../user-scopes.ts'

export const passkeysOf = (db: Db, { id }: Pick<User, 'id'>) =>
  db.selectFrom('passkeys').selectAll().where('user_id', '=', id).orderBy('id')

export const passkey = child(ownScope.resource, {
  name: 'Passkey',
  key: 'passkey',
  params: { passkey_id: id },
  find: (app, { owner }, { passkey_id }) => passkeysOf(app.db, owner).where('id', '=', passkey_id).executeTakeFirst(),
})

export const listPasskeys = (db: Db, owner: User, page: PageRequest): Promise<Page<Row<'passkeys'>>> =>
  pageOfQuery(passkeysOf(db, owner), page)

export const hasPasskeys = async ({ db }: App, user: Pick<User, 'id'>): Promise<boolean> =>
  (await passkeysOf(db, user).limit(1).executeTakeFirst()) !== undefined
