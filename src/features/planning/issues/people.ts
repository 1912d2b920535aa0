import type { App, User } from '../../../context.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { subjectsOfUsers } from '../subjects.ts'
import { issuePolicy, issuesPolicy, type MetIssue } from './policy.ts'

/** Those of these users who see the project's issues, or this one; the others are left out. */
export async function readersAmong(
  app: App,
  place: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  issue?: Omit<MetIssue, 'assigned'>,
): Promise<User[]> {
  const subjects = await subjectsOfUsers(app, place, ids)
  const isReader = (subject: ProjectSubject) =>
    issue
      ? issuePolicy.read({ ...subject, issue: { ...issue, assigned: false } })
      : issuesPolicy.read(subject) && issuesPolicy.readIssues(subject)
  return subjects.filter(isReader).map(({ viewer }) => viewer)
}
