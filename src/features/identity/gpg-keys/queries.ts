import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { UserScope } from '../user-scopes.ts'

export const gpgKey = ({ resource }: UserScope) =>
  child(resource, {
    name: 'GPG Key',
    key: 'key',
    params: { key_id: id },
    find: (app, { owner }, { key_id }) => gpgKeysOf(app.db, owner).where('id', '=', key_id).executeTakeFirst(),
  })

const gpgKeysOf = (db: Db, { id }: User) => db.selectFrom('gpg_keys').selectAll().where('user_id', '=', id)

export const listGpgKeys = (db: Db, owner: User, page: PageRequest): Promise<Page<Row<'gpg_keys'>>> =>
  pageOfQuery(gpgKeysOf(db, owner).orderBy('id', 'desc'), page)

/** The ids of the key and of each subkey: a signature may name any of them. */
export async function keyIdsOf(db: Db, { id, primary_keyid }: Row<'gpg_keys'>): Promise<string[]> {
  const subkeys = await db
    .selectFrom('gpg_subkeys')
    .select('keyid')
    .where('gpg_key_id', '=', id)
    .orderBy('id')
    .execute()
  return [primary_keyid, ...subkeys.map(({ keyid }) => keyid)]
}
