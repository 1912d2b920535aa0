import type { App, User } from '../../../context.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { subjectsOfUsers } from '../subjects.ts'
import { issuePolicy, issuesPolicy, type ViewedIssue } from './policy.ts'
import { assigneesOf } from './queries.ts'
import type { Issue } from './model.ts'

/** Of these users, those who may see the project's issues, or this issue. */
export async function readersAmong(
  app: App,
  scope: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  issue?: Omit<ViewedIssue, 'assigned'>,
): Promise<User[]> {
  const subjects = await subjectsOfUsers(app, scope, ids)
  const isReader = (subject: ProjectSubject) =>
    issue
      ? issuePolicy.read({ ...subject, issue: { ...issue, assigned: false } })
      : issuesPolicy.read(subject) && issuesPolicy.readIssues(subject)
  return subjects.filter(isReader).map(({ viewer }) => viewer)
}

/**
 * Of these users, those who may see this issue or, with `internal`, its internal notes. Assignees may see the issue,
 * too.
 */
export async function issueReaders(
  app: App,
  scope: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  issue: Issue,
  { internal }: { readonly internal: boolean } = { internal: false },
): Promise<User[]> {
  // Internal notes are visible to users who would see the issue if it were confidential and not their own.
  if (internal) return readersAmong(app, scope, ids, { ...issue, confidential: true, author_id: null })
  const readers = await readersAmong(app, scope, ids, issue)
  const assigned = (await assigneesOf(app.db, [issue.id])).get(issue.id) ?? []
  const others = assigned.filter((id) => ids.includes(id) && !readers.some((reader) => reader.id === id))
  return [...readers, ...(await readersAmong(app, scope, others))]
}
