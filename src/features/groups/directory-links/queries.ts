import type { Page, PageRequest } from '../../../api/pages.ts'
import { normaliseDn } from '../../../directory/directory.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'

export type DirectoryLink = Row<'ldap_group_links'>

const ofGroup = (db: Db, group: number) => db.selectFrom('ldap_group_links').selectAll().where('group_id', '=', group)

export const listLinks = (db: Db, group: number, page: PageRequest): Promise<Page<DirectoryLink>> =>
  pageOfQuery(ofGroup(db, group).orderBy('id'), page)

export const linksOf = (db: Db, group: number): Promise<DirectoryLink[]> => ofGroup(db, group).orderBy('id').execute()

/** Ids of the groups that are linked to any of these directories. */
export async function linkedGroups(db: Db, providers: readonly string[]): Promise<number[]> {
  if (providers.length === 0) return []
  const rows = await db
    .selectFrom('ldap_group_links')
    .select('group_id')
    .distinct()
    .where('provider', 'in', providers)
    .orderBy('group_id')
    .execute()
  return rows.map(({ group_id }) => group_id)
}

/**
 * Users by DN, for a whole directory at once: an administrator may have entered a DN in any form, which no index finds.
 * Of two forms of the same DN the normalised one counts, as at sign-in.
 */
export async function usersByDn(db: Db, provider: string): Promise<Map<string, number>> {
  const identities = await db
    .selectFrom('identities')
    .select(['user_id', 'extern_uid'])
    .where('provider', '=', provider)
    .orderBy('id')
    .execute()
  const users = new Map<string, number>()
  for (const { user_id, extern_uid } of identities) {
    const dn = normaliseDn(extern_uid)
    if (dn === extern_uid || !users.has(dn)) users.set(dn, user_id)
  }
  return users
}
