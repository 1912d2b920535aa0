import type { App, User } from '../../../context.ts'
import { projectSubjects } from '../subjects.ts'
import type { Issue } from './model.ts'
import { issuePolicy } from './policy.ts'
import { assigneesOf } from './queries.ts'

/** Of these issues of any projects, those the viewer may see. A fixed number of queries. */
export async function readableAmong(app: App, viewer: User | null, issues: readonly Issue[]): Promise<Issue[]> {
  if (issues.length === 0) return []
  const [subjects, assigned] = await Promise.all([
    projectSubjects(
      app,
      viewer,
      issues.map(({ project_id }) => project_id),
    ),
    assigneesOf(
      app.db,
      issues.map(({ id }) => id),
    ),
  ])
  return issues.filter((issue) => {
    const subject = subjects.get(issue.project_id)
    const isAssigned = viewer !== null && (assigned.get(issue.id)?.includes(viewer.id) ?? false)
    return subject && issuePolicy.read({ ...subject, issue: { ...issue, assigned: isAssigned } })
  })
}
