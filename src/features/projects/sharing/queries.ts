import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { isGroupOf, isOpenTo } from '../../access/authorizations/queries.ts'
import { findNamespaceById, project, type Namespace } from '../projects/queries.ts'

export type GroupLink = Row<'project_shares'>

/** `/projects/:id/share/:group_id` */
export const groupLink = child(project, {
  name: 'Group Link',
  key: 'link',
  params: { group_id: id },
  find: (app, { project }, { group_id }) =>
    app.db
      .selectFrom('project_shares')
      .selectAll()
      .where('project_id', '=', project.id)
      .where('group_id', '=', group_id)
      .executeTakeFirst(),
})

/** Null also if the viewer may not see the group. */
export async function findReadableGroup(app: App, viewer: User, id: number): Promise<Namespace | null> {
  const group = await findNamespaceById(app.db, id)
  if (!group || group.kind !== 'group' || group.deleting) return null
  return isOpenTo(viewer, group.visibility) || (await isGroupOf(app.db, viewer, id)) ? group : null
}

/** Whether the group is the namespace itself or one of its ancestors. */
export async function isAround(db: Db, group: number, namespace: number): Promise<boolean> {
  const above = await db
    .selectFrom('namespace_ancestors')
    .select('ancestor_id')
    .where('namespace_id', '=', namespace)
    .where('ancestor_id', '=', group)
    .executeTakeFirst()
  return above !== undefined
}
