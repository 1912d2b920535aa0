import { sql } from 'kysely'
import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { isGroupOf, isOpenTo, levelInGroup } from '../../access/authorizations/queries.ts'
import { findProject } from '../../projects/projects/queries.ts'
import { groupPolicy, type GroupSubject } from './policy.ts'

export type Group = Row<'namespaces'>

const groupById = hotQuery((db, p: { id: number }) =>
  db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', p.id)
    .where('kind', '=', 'group')
    .where('deleting', '=', false),
)

const groupByPath = hotQuery((db, p: { path: string }) =>
  db
    .selectFrom('namespaces')
    .selectAll()
    .where(sql`lower(full_path)`, '=', p.path)
    .where('kind', '=', 'group')
    .where('deleting', '=', false),
)

/** By id, or by full path regardless of case. All digits are an id, never a path. */
export async function findGroup(db: Db, given: string): Promise<Group | null> {
  if (!/^\d+$/.test(given)) return (await groupByPath(db, { path: given.toLowerCase() }))[0] ?? null
  return findGroupById(db, Number(given))
}

export async function findGroupById(db: Db, id: number): Promise<Group | null> {
  return Number.isSafeInteger(id) ? ((await groupById(db, { id }))[0] ?? null) : null
}

/** A group that was deleted by itself and can be restored; by id, or by its full path in the bin. */
export async function findBinnedGroup(db: Db, given: string): Promise<Group | null> {
  const isId = /^\d+$/.test(given)
  if (isId && !Number.isSafeInteger(Number(given))) return null
  const group = await db
    .selectFrom('namespaces')
    .selectAll()
    .where('kind', '=', 'group')
    .where('deleting', '=', true)
    .where('marked_for_deletion_at', 'is not', null)
    .$if(isId, (query) => query.where('id', '=', Number(given)))
    .$if(!isId, (query) => query.where(sql`lower(full_path)`, '=', given.toLowerCase()))
    .executeTakeFirst()
  return group ?? null
}

/** The group with the viewer's rights, even if the viewer may not read it. */
export async function loadGroupSubject(app: App, group: Group, viewer: User | null): Promise<GroupSubject> {
  const level = await levelInGroup(app.db, viewer, group.id)
  const open = level >= Guest || isOpenTo(viewer, group.visibility)
  return { group, viewer, level, visible: open || (await isGroupOf(app.db, viewer, group.id)) }
}

/** `/groups/:id`: by id or by full path; answers 404 to callers who may not read it. */
export const group = resource({
  name: 'Group',
  params: z.object({ id: text }),
  policy: groupPolicy,
  async find(app, { id }, viewer) {
    const found = await findGroup(app.db, id)
    return found && loadGroupSubject(app, found, viewer)
  },
})

/** Also finds groups in the bin, for their owners and for administrators. The endpoint decides whether it shows them. */
export const groupOrBinned = {
  ...group,
  async find(app: App, { id }: { id: string }, viewer: User | null): Promise<GroupSubject | null> {
    const found = await findGroup(app.db, id)
    if (found) return loadGroupSubject(app, found, viewer)
    const binned = viewer && (await findBinnedGroup(app.db, id))
    const subject = binned && (await loadGroupSubject(app, binned, viewer))
    return subject && groupPolicy.own(subject) ? subject : null
  },
}

/** `/groups/:id/projects/:project_id`: a project to transfer into the group. */
export const incomingProject = child(group, {
  name: 'Project',
  key: 'project',
  params: { project_id: text },
  find: (app, _group, { project_id }) => findProject(app.db, project_id),
})
