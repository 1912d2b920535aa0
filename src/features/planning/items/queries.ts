import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { findNamedProject } from '../quick-actions/arguments.ts'
import type { ItemRow } from './kind.ts'
import { readableItems } from './readers.ts'
import type { ListedItem, RegisteredKind } from './registry.ts'

const listed = (db: Db, { table, ruling = [] }: RegisteredKind) =>
  db.selectFrom(table as 'issues').select(['id', 'iid', 'project_id', 'author_id', 'title', ...ruling])

export async function findItems(db: Db, kind: RegisteredKind, ids: readonly number[]): Promise<ListedItem[]> {
  if (ids.length === 0) return []
  return listed(db, kind)
    .where(inIdList(db, 'id', idList(db, [...new Set(ids)])))
    .execute()
}

/** By their numbers in a project. */
export async function findItemsIn(
  db: Db,
  kind: RegisteredKind,
  project: Pick<Row<'projects'>, 'id'>,
  iids: readonly number[],
): Promise<ListedItem[]> {
  return listed(db, kind).where('project_id', '=', project.id).where('iid', 'in', iids).execute()
}

/** The whole row of an item. */
export const findItem = (db: Db, { table }: RegisteredKind, id: number): Promise<ItemRow | undefined> =>
  db
    .selectFrom(table as 'issues')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()

/** `#4`, `project!4`, `group/project#4`, if the viewer may see the item. */
export async function findNamedItem(
  app: App,
  viewer: User,
  home: ProjectSubject,
  kind: RegisteredKind,
  { project: path, id: iid }: { readonly project: string | null; readonly id: number },
): Promise<{ project: ProjectSubject['project']; item: ListedItem } | null> {
  const target = path === null ? home : await findNamedProject(app, viewer, home, path)
  if (!target) return null
  const [item] = await readableItems(app, kind, viewer, await findItemsIn(app.db, kind, target.project, [iid]))
  return item ? { project: target.project, item } : null
}
