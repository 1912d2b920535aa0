import type { App, User } from '../../context.ts'
import type { Row } from '../../store/database.ts'
import { idList, inIdList } from '../../store/dialect.ts'
import { levelOf, levelsOnProjects, openVisibilities } from '../access/authorizations/queries.ts'
import type { ProjectSubject } from '../projects/projects/policy.ts'

/** Projects with the viewer's level, by id, for policies of records in them. Two queries, however many projects. */
export async function projectSubjects(
  { db }: App,
  viewer: User | null,
  projects: readonly number[],
): Promise<Map<number, ProjectSubject>> {
  if (projects.length === 0) return new Map()
  const ids = [...new Set(projects)]
  const [rows, levels] = await Promise.all([
    db
      .selectFrom('projects')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, ids)))
      .where('deleting', '=', false)
      .execute(),
    levelsOnProjects(db, viewer, ids),
  ])
  const open = openVisibilities(viewer)
  // No policy reads the namespace.
  const namespace = null as unknown as Row<'namespaces'>
  return new Map(rows.map((project) => [project.id, { project, namespace, viewer, level: levels(project.id), open }]))
}

/** One project for each of these users; blocked users are left out. */
export async function subjectsOfUsers(
  { db }: App,
  { project, namespace }: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
): Promise<(ProjectSubject & { readonly viewer: User })[]> {
  const userIds = [...new Set(ids)].filter((id) => id > 0)
  if (userIds.length === 0) return []
  const users = await db
    .selectFrom('users')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.user_id', '=', 'users.id').on('mine.project_id', '=', project.id),
    )
    .selectAll('users')
    .select('mine.access_level')
    .where(inIdList(db, 'users.id', idList(db, userIds)))
    .where('users.state', '=', 'active')
    .orderBy('users.id')
    .execute()
  return users.map(({ access_level, ...viewer }) => ({
    project,
    namespace,
    viewer,
    level: levelOf(viewer, access_level),
    open: openVisibilities(viewer),
  }))
}
