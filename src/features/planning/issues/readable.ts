import type { App, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { levelsOnProjects, openVisibilities } from '../../access/authorizations/queries.ts'
import type { Issue } from './model.ts'
import { issuePolicy } from './policy.ts'
import { assigneesOf } from './queries.ts'

/** Those of these issues that the viewer may see, of whatever projects; a query for each kind of thing. */
export async function readableAmong({ db }: App, viewer: User | null, issues: readonly Issue[]): Promise<Issue[]> {
  if (issues.length === 0) return []
  const ids = [...new Set(issues.map(({ project_id }) => project_id))]
  const [projects, levels, assigned] = await Promise.all([
    db
      .selectFrom('projects')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, ids)))
      .where('deleting', '=', false)
      .execute(),
    levelsOnProjects(db, viewer, ids),
    assigneesOf(
      db,
      issues.map(({ id }) => id),
    ),
  ])
  const byId = new Map(projects.map((project) => [project.id, project]))
  return issues.filter((issue) => {
    const project = byId.get(issue.project_id)
    if (!project) return false
    const subject = {
      project,
      // No rule asks where a project lies.
      namespace: null as unknown as Row<'namespaces'>,
      viewer,
      level: levels(project.id),
      open: openVisibilities(viewer),
    }
    const isAssigned = viewer !== null && (assigned.get(issue.id)?.includes(viewer.id) ?? false)
    return issuePolicy.read({ ...subject, issue: { ...issue, assigned: isAssigned } })
  })
}
