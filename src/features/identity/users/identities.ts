/** Maps users of the forge to entries of a directory. */
import type { App, User } from '../../../context.ts'
import { normaliseDn } from '../../../directory/directory.ts'
import type { Db } from '../../../store/database.ts'
import { findUser } from './queries.ts'

export interface DirectoryIdentity {
  readonly provider: string
  readonly extern_uid: string
}

/** The user's identities in configured directories. Identities of other providers give no access here. */
export async function directoryIdentities(app: App, user: User): Promise<DirectoryIdentity[]> {
  if (app.directories.length === 0) return []
  const providers = app.directories.map(({ provider }) => provider)
  return app.db
    .selectFrom('identities')
    .select(['provider', 'extern_uid'])
    .where('user_id', '=', user.id)
    .where('provider', 'in', providers)
    .execute()
}

/** Sign-ins store normalised DNs. DNs that an administrator entered may have any form and are compared one by one. */
export async function findUserByDn(db: Db, provider: string, dn: string): Promise<User | null> {
  const identities = db.selectFrom('identities').where('provider', '=', provider)
  const normalised = normaliseDn(dn)
  const exact = await identities.select('user_id').where('extern_uid', '=', normalised).executeTakeFirst()
  if (exact) return findUser(db, exact.user_id)
  const all = await identities.select(['user_id', 'extern_uid']).orderBy('id').execute()
  const same = all.find(({ extern_uid }) => normaliseDn(extern_uid) === normalised)
  return same ? findUser(db, same.user_id) : null
}
