/** Who sees which item, for any kind of item. */
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { projectSubjects, subjectsOfUsers } from '../subjects.ts'
import type { ItemKind } from './kind.ts'

/** The columns that decide who sees an item. */
export interface SeenRow {
  readonly id: number
  readonly project_id: number
  readonly author_id: number | null
  readonly confidential?: boolean
}

/** A kind with its rules. `isTheirs`: the item is linked to the viewer, as to an assignee. */
export interface ItemRules extends Pick<ItemKind, 'column' | 'people'> {
  reads(subject: ProjectSubject, item: SeenRow, isTheirs: boolean): boolean
  /** Whether the viewer sees the items of a project, except those with a stricter rule. */
  readsAll(subject: ProjectSubject): boolean
}

/** `<item> <user>` of those of these users who are linked to these items. */
async function linksOf(
  db: Db,
  { column, people }: Pick<ItemRules, 'column' | 'people'>,
  items: readonly number[],
  users: readonly number[],
): Promise<Set<string>> {
  const tables = Object.values(people).map(
    (table) => sql`select ${sql.ref(column)} as item_id, user_id from ${sql.table(table)}
      where ${inIdList(db, column, idList(db, items))} and ${inIdList(db, 'user_id', idList(db, users))}`,
  )
  const { rows } = await sql<{ item_id: number; user_id: number }>`${sql.join(tables, sql` union all `)}`.execute(db)
  return new Set(rows.map(({ item_id, user_id }) => `${item_id} ${user_id}`))
}

/** Of these items of any projects, those the viewer may see. A fixed number of queries. */
export async function readableItems<R extends SeenRow>(
  app: App,
  rules: ItemRules,
  viewer: User | null,
  items: readonly R[],
): Promise<R[]> {
  if (items.length === 0) return []
  const subjects = await projectSubjects(
    app,
    viewer,
    items.map(({ project_id }) => project_id),
  )
  const reads = (item: R, isTheirs: boolean) => {
    const subject = subjects.get(item.project_id)
    return subject !== undefined && rules.reads(subject, item, isTheirs)
  }
  const others = items.filter((item) => !reads(item, false)).map(({ id }) => id)
  const links =
    viewer === null || others.length === 0 ? new Set<string>() : await linksOf(app.db, rules, others, [viewer.id])
  return items.filter((item) => reads(item, links.has(`${item.id} ${viewer?.id}`)))
}

/** Of these users, those who may see the item or, with `internal`, its internal notes. */
export async function itemReaders(
  app: App,
  rules: ItemRules,
  scope: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  item: SeenRow,
  { internal }: { readonly internal: boolean } = { internal: false },
): Promise<User[]> {
  const subjects = await subjectsOfUsers(app, scope, ids)
  const others = subjects.filter((subject) => !rules.reads(subject, item, false)).map(({ viewer }) => viewer.id)
  const links = others.length === 0 ? new Set<string>() : await linksOf(app.db, rules, [item.id], others)
  return subjects
    .filter((subject) => rules.reads(subject, item, links.has(`${item.id} ${subject.viewer.id}`)))
    .filter(({ level }) => !internal || level >= Reporter)
    .map(({ viewer }) => viewer)
}

/** Of these users, those who may see the project's items. */
export async function projectReaders(
  app: App,
  { readsAll }: Pick<ItemRules, 'readsAll'>,
  scope: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
): Promise<User[]> {
  return (await subjectsOfUsers(app, scope, ids)).filter(readsAll).map(({ viewer }) => viewer)
}
