import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { forbidden, notFound } from '../../../errors.ts'
import type { Db, Row } from '../../../store/database.ts'
import { isGroupOf, isOpenTo } from '../../access/authorizations/queries.ts'
import { findAndMeet, findNamespaceById, project, type Namespace } from '../projects/queries.ts'
import { groupLinkPolicy } from './policy.ts'

export type GroupLink = Row<'project_shares'>

/** `/projects/:id/share/:group_id`: whoever may not administer the project learns nothing of its shares. */
export const groupLink = resource({
  name: 'Group Link',
  params: z.object({ id: text, group_id: id }),
  policy: groupLinkPolicy,
  async find(app, params, viewer) {
    const subject = await findAndMeet(app, params.id, viewer)
    if (!subject || !project.policy.read(subject)) throw notFound('Project')
    if (!project.policy.administer(subject)) throw forbidden()
    const link = await app.db
      .selectFrom('project_shares')
      .selectAll()
      .where('project_id', '=', subject.project.id)
      .where('group_id', '=', params.group_id)
      .executeTakeFirst()
    return link && { ...subject, link }
  },
})

/** Null also where the viewer may not know of it. */
export async function findReadableGroup(app: App, viewer: User, id: number): Promise<Namespace | null> {
  const group = await findNamespaceById(app.db, id)
  if (!group || group.kind !== 'group' || group.deleting) return null
  return isOpenTo(viewer, group.visibility) || (await isGroupOf(app.db, viewer, id)) ? group : null
}

/** Whether the group is the namespace itself or lies above it. */
export async function isAround(db: Db, group: number, namespace: number): Promise<boolean> {
  const above = await db
    .selectFrom('namespace_ancestors')
    .select('ancestor_id')
    .where('namespace_id', '=', namespace)
    .where('ancestor_id', '=', group)
    .executeTakeFirst()
  return above !== undefined
}
