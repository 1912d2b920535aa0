import type { App, User } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { levelOf, openVisibilities } from '../../access/authorizations/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { issuePolicy, issuesPolicy, type MetIssue } from './policy.ts'

/** Those of these users who see the project's issues, or this one; the others are left out. */
export async function readersAmong(
  { db }: App,
  { project, namespace }: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  issue?: Omit<MetIssue, 'assigned'>,
): Promise<User[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0)
  if (wanted.length === 0) return []
  const users = await db
    .selectFrom('users')
    .leftJoin('project_authorizations as mine', (join) =>
      join.onRef('mine.user_id', '=', 'users.id').on('mine.project_id', '=', project.id),
    )
    .selectAll('users')
    .select('mine.access_level')
    .where(inIdList(db, 'users.id', idList(db, wanted)))
    .orderBy('users.id')
    .execute()
  return users.filter(({ access_level, ...viewer }) => {
    const subject = {
      project,
      namespace,
      viewer,
      level: levelOf(viewer, access_level),
      open: openVisibilities(viewer),
    }
    if (viewer.state !== 'active') return false
    if (!issue) return issuesPolicy.read(subject) && issuesPolicy.readIssues(subject)
    return issuePolicy.read({ ...subject, issue: { ...issue, assigned: false } })
  })
}
