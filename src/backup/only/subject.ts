/** The project or group that a restore is about, and the reasons why it cannot come back. */
import { posix } from 'node:path'
import { sql } from 'kysely'
import { CannotStart } from '../../config.ts'
import type { App } from '../../context.ts'
import { fullNameOf, fullPathOf, isNameTaken, isPathTaken } from '../../features/groups/groups/paths.ts'
import { assertValidGroup } from '../../features/groups/groups/validation.ts'
import { PROVISIONING } from '../../features/projects/projects/model.ts'
import { assertFree } from '../../features/projects/projects/service.ts'
import { assertValidProject } from '../../features/projects/projects/validation.ts'
import { VISIBILITIES, isWider, type Visibility } from '../../lib/levels.ts'
import { Refusal } from '../../errors.ts'
import type { Db, Row } from '../../store/database.ts'
import type { Root } from './selection.ts'

export interface Subject extends Root {
  readonly kind: 'project' | 'group'
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly full_name: string
  /** The namespace of a project, or the group above a group; null for a group at the top. */
  readonly parent_id: number | null
}

/** `moment` is part of the message. */
export async function findSubject(backup: Db, fullPath: string, moment: string): Promise<Subject> {
  const path = fullPath.toLowerCase()
  const parent = posix.dirname(path)
  const project = await backup
    .selectFrom('projects as p')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .select(['p.id', 'p.name', 'p.path', 'n.full_path', 'n.full_name', 'n.id as parent_id', 'p.deleting'])
    .where(sql`lower(n.full_path)`, '=', parent)
    .where((eb) =>
      eb.or([
        eb(sql`lower(p.path)`, '=', posix.basename(path)),
        eb(sql`lower(p.deleted_path)`, '=', posix.basename(path)),
      ]),
    )
    .orderBy('p.deleting')
    .executeTakeFirst()
  if (project?.deleting) throw inBin(fullPath, moment)
  if (project)
    return {
      ...project,
      table: 'projects',
      kind: 'project',
      full_path: `${project.full_path}/${project.path}`,
      full_name: `${project.full_name} / ${project.name}`,
    }
  const namespace = await backup
    .selectFrom('namespaces')
    .select(['id', 'kind', 'name', 'path', 'full_path', 'full_name', 'parent_id', 'deleting'])
    .where(sql`lower(full_path)`, '=', path)
    .executeTakeFirst()
  if (!namespace) throw new CannotStart(`the backup of ${moment} holds no project or group ${fullPath}`)
  if (namespace.kind !== 'group') throw new CannotStart(`${fullPath} is a user: name a group or a project`)
  if (namespace.deleting) throw inBin(fullPath, moment)
  return { ...namespace, table: 'namespaces', kind: 'group' }
}

const inBin = (path: string, moment: string) =>
  new CannotStart(`${path} was deleted already at ${moment}: give an earlier time with --at`)

/** The record with the same id must be gone. */
export async function assertDeleted({ db }: App, { table, kind, id, full_path }: Subject): Promise<void> {
  const living = await db
    .selectFrom(table)
    .select(['deleting', 'marked_for_deletion_at', 'deleted_with_group_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!living) return
  if (!living.deleting) throw new CannotStart(`${full_path} still exists (${kind} ${id}): delete it first`)
  if (living.marked_for_deletion_at !== null)
    throw new CannotStart(`${full_path} is in the bin: start the server and call POST /${kind}s/${id}/restore`)
  if (living.deleted_with_group_id !== null)
    throw new CannotStart(`${full_path} is in the bin with its group: start the server and restore the group there`)
  throw unfinished(full_path)
}

export const unfinished = (path: string) =>
  new CannotStart(`the deletion of ${path} is not finished: start the server, wait a minute and stop the server again`)

/**
 * Gives the row in the backup the path that it gets in the instance: a group above may have been renamed, and `as` is
 * another path. Returns the full path.
 */
export async function preparePath(app: App, backup: Db, subject: Subject, as: string | null): Promise<string> {
  const parent = await parentOf(app, backup, subject)
  const path = as === null ? subject.path : posix.basename(as)
  const fullPath = fullPathOf(parent, path)
  if (as !== null && as.toLowerCase() !== fullPath.toLowerCase())
    throw new CannotStart(`--as must name the same group, such as --as ${fullPath}`)
  if (subject.kind === 'project')
    await moveProject(app, backup, subject, { namespace: parent!, path, isNew: as !== null })
  else await moveGroup(app, backup, subject, { parent, path, fullPath, isNew: as !== null })
  await narrow(backup, subject, parent)
  return fullPath
}

type Namespace = Row<'namespaces'>

async function parentOf({ db }: App, backup: Db, subject: Subject): Promise<Namespace | null> {
  if (subject.parent_id === null) return null
  const parent = await db.selectFrom('namespaces').selectAll().where('id', '=', subject.parent_id).executeTakeFirst()
  if (parent && !parent.deleting) return parent
  const above = await backup
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select(['n.id', 'n.full_path', 'n.kind'])
    .where('a.namespace_id', '=', subject.parent_id)
    .orderBy('a.depth', 'desc')
    .execute()
  const ids = above.map(({ id }) => id)
  const living = await db.selectFrom('namespaces').select(['id', 'deleting']).where('id', 'in', ids).execute()
  const gone = above.find(({ id }) => !living.some((one) => one.id === id && !one.deleting))!
  if (gone.kind !== 'group') throw new CannotStart(`the user ${gone.full_path} no longer exists`)
  if (living.some(({ id }) => id === gone.id))
    throw new CannotStart(`the group ${gone.full_path} is in the bin: start the server and restore the group first`)
  throw new CannotStart(
    `the group ${gone.full_path} no longer exists: restore all of it with --only ${gone.full_path} instead`,
  )
}

const offer = (path: string, reason: string) =>
  new CannotStart(`${path} is taken (${reason}): give another path with --as, such as --as ${path}-restored`)

function assertValid(check: () => void): void {
  try {
    check()
  } catch (error) {
    if (error instanceof Refusal) throw new CannotStart('--as names a path that is not allowed', { cause: error })
    throw error
  }
}

async function moveProject(
  app: App,
  backup: Db,
  { id, name, path: before }: Subject,
  { namespace, path, isNew }: { namespace: Namespace; path: string; isNew: boolean },
): Promise<void> {
  const full = `${namespace.full_path}/${path}`
  if (isNew) assertValid(() => assertValidProject({ path }))
  // A project with another path needs another name, too.
  const isNamed = await app.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', namespace.id)
    .where('name', '=', name)
    .executeTakeFirst()
  const newName = isNew && isNamed ? path : name
  try {
    await assertFree(app, namespace, { id, name: newName, path })
  } catch (error) {
    if (error instanceof Refusal) throw offer(full, 'another project or group has this path or name')
    throw error
  }
  if (path !== before || newName !== name)
    await backup.updateTable('projects').set({ path, name: newName }).where('id', '=', id).execute()
  await backup
    .updateTable('projects')
    .set({ import_status: 'failed' })
    .where('id', '=', id)
    .where('import_status', 'in', [...PROVISIONING])
    .execute()
}

async function moveGroup(
  app: App,
  backup: Db,
  { id, name, full_path, full_name, parent_id }: Subject,
  { parent, path, fullPath, isNew }: { parent: Namespace | null; path: string; fullPath: string; isNew: boolean },
): Promise<void> {
  if (isNew) assertValid(() => assertValidGroup({ path }, { isRoot: parent === null }))
  const isNamed = (name: string) => isNameTaken(app, { id, parent_id, name })
  // A group with another path needs another name, too.
  const newName = isNew && (await isNamed(name)) ? path : name
  if ((await isPathTaken(app, { id, parent_id, path, full_path: fullPath })) || (await isNamed(newName)))
    throw offer(fullPath, 'another group, user or project has this path or name')
  const newFullName = fullNameOf(parent, newName)
  const tree = sql`id in (select namespace_id from namespace_ancestors where ancestor_id = ${id})`
  await sql`update namespaces set full_path = ${fullPath} || substr(full_path, ${full_path.length + 1}),
    full_name = ${newFullName} || substr(full_name, ${full_name.length + 1}) where ${tree}`.execute(backup)
  await backup.updateTable('namespaces').set({ path, name: newName }).where('id', '=', id).execute()
}

/** Nothing is more visible than the group that it is in. */
async function narrow(backup: Db, { table, id }: Subject, parent: Namespace | null): Promise<void> {
  if (parent === null || parent.kind !== 'group') return
  const visibility = parent.visibility as Visibility
  const wider = VISIBILITIES.filter((one) => isWider(one, visibility))
  if (wider.length === 0) return
  const tree = backup.selectFrom('namespace_ancestors').select('namespace_id').where('ancestor_id', '=', id)
  const projects = backup.updateTable('projects').set({ visibility }).where('visibility', 'in', wider)
  if (table === 'projects') return void (await projects.where('id', '=', id).execute())
  await projects.where('namespace_id', 'in', tree).execute()
  await backup
    .updateTable('namespaces')
    .set({ visibility })
    .where('visibility', 'in', wider)
    .where('id', 'in', tree)
    .execute()
}
