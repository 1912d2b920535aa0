import type { App, User } from '../../context.ts'
import { oncePerPage } from '../../lib/async/page-reads.ts'
import type { Db, Row } from '../../store/database.ts'
import { idList, inIdList } from '../../store/dialect.ts'
import { hotQuery } from '../../store/hot.ts'
import { levelOf, openVisibilities } from '../access/authorizations/queries.ts'
import type { ProjectSubject } from '../projects/projects/policy.ts'
import { projectRows } from '../projects/projects/queries.ts'

const levelsAndVersions = hotQuery((db, p: { viewer: number; ids: string }) =>
  db
    .selectFrom('projects as p')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.project_id', '=', 'p.id').on('mine.user_id', '=', p.viewer),
    )
    .select(['p.id', 'p.version', 'mine.access_level'])
    .where(inIdList(db, 'p.id', p.ids))
    .where('p.deleting', '=', false),
)

/** Projects with the viewer's level, by id, for policies of records in them. One query if the projects are known. */
export async function projectSubjects(
  app: App,
  viewer: User | null,
  projects: readonly number[],
): Promise<ReadonlyMap<number, ProjectSubject>> {
  if (projects.length === 0) return new Map()
  const ids = idList(
    app.db,
    [...new Set(projects)].toSorted((a, b) => a - b),
  )
  return oncePerPage(app, `projects ${ids} of ${viewer?.id ?? 0}`, () => readSubjects(app.db, viewer, ids))
}

async function readSubjects(db: Db, viewer: User | null, ids: string): Promise<Map<number, ProjectSubject>> {
  const found = await levelsAndVersions(db, { viewer: viewer?.id ?? 0, ids })
  const rows = await projectRows(db, found)
  const open = openVisibilities(viewer)
  // No policy reads the namespace.
  const namespace = null as unknown as Row<'namespaces'>
  return new Map(
    found.flatMap(({ id, access_level }) => {
      const project = rows.get(id)
      if (!project || project.deleting) return [] // deleted meanwhile
      return [[id, { project, namespace, viewer, level: levelOf(viewer, access_level), open }] as const]
    }),
  )
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
