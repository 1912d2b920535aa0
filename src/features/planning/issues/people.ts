import type { App, User } from '../../../context.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { subjectsOfUsers } from '../subjects.ts'
import { issuePolicy, issuesPolicy, type ViewedIssue } from './policy.ts'
import { assigneesOf } from './queries.ts'
import type { Issue } from './model.ts'

/** Those of these users who see the project's issues, or this one; the others are left out. */
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

/** Those of these users who see this issue, or what is said of it between a few; whose it is to do sees it, too. */
export async function issueReaders(
  app: App,
  scope: Pick<ProjectSubject, 'project' | 'namespace'>,
  ids: readonly number[],
  issue: Issue,
  { internal }: { readonly internal: boolean } = { internal: false },
): Promise<User[]> {
  // What is internal is for those who would see it were it confidential and somebody else's.
  if (internal) return readersAmong(app, scope, ids, { ...issue, confidential: true, author_id: null })
  const readers = await readersAmong(app, scope, ids, issue)
  const assigned = (await assigneesOf(app.db, [issue.id])).get(issue.id) ?? []
  const others = assigned.filter((id) => ids.includes(id) && !readers.some((reader) => reader.id === id))
  return [...readers, ...(await readersAmong(app, scope, others))]
}
