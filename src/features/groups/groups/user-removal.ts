import type { OnUserRemoved } from '../../../context.ts'
import { conflict } from '../../../errors.ts'
import { Owner } from '../../../lib/levels.ts'
import { lockMembers } from '../../access/members/service.ts'
import { markGroupDeleted } from './removal.ts'

/** A group never loses its last owner: either the owner stays, or the group is deleted with the owner. */
export const releaseGroups: OnUserRemoved = async (app, user, { successor }) => {
  const owned = await app.db
    .selectFrom('members')
    .select('group_id')
    .where('user_id', '=', user.id)
    .where('access_level', '=', Owner)
    .where('group_id', 'is not', null)
    .orderBy('group_id')
    .execute()
  for (const { group_id } of owned) await lockMembers(app, { group_id, project_id: null })
  const alone = await app.db
    .selectFrom('members as own')
    .innerJoin('namespaces', 'namespaces.id', 'own.group_id')
    .selectAll('namespaces')
    .where('own.user_id', '=', user.id)
    .where('own.access_level', '=', Owner)
    .where('namespaces.deleting', '=', false)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('namespace_ancestors as a')
            .innerJoin('members as other', 'other.group_id', 'a.ancestor_id')
            .select('other.id')
            .whereRef('a.namespace_id', '=', 'own.group_id')
            .where('other.user_id', '!=', user.id)
            .where('other.access_level', '=', Owner),
        ),
      ),
    )
    .execute()
  if (alone.length > 0 && successor) throw conflict(`The user is the only owner of the group ${alone[0]!.full_path}`)
  for (const group of alone) await markGroupDeleted(app, group)
}
