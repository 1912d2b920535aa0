import type { App, User } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { addSystemNotes } from '../notes/system.ts'
import type { IssueSubject } from './policy.ts'
import { updateIssue } from './service.ts'

/** One that says what another says already: it is closed and tells of the other, and the other of it. */
export async function markDuplicate(
  app: App,
  actor: User,
  subject: IssueSubject,
  original: IssueSubject,
): Promise<void> {
  const isSame = subject.project.id === original.project.id
  const named = ({ project, namespace, issue }: IssueSubject) =>
    `${isSame ? '' : pathWithNamespace(project, namespace)}#${issue.iid}`
  const tell = (app: App, { project, issue }: IssueSubject, other: IssueSubject, body: string) =>
    addSystemNotes(app, actor, { project_id: project.id, issue_id: issue.id }, [
      { action: 'duplicate', body, names: other.issue.id },
    ])
  await transact(app, async (app) => {
    await app.db
      .updateTable('issues')
      .set({ duplicated_to_id: original.issue.id })
      .where('id', '=', subject.issue.id)
      .execute()
    await tell(app, subject, original, `marked this issue as a duplicate of ${named(original)}`)
    await tell(app, original, subject, `marked ${named(subject)} as a duplicate of this issue`)
    await updateIssue(app, actor, subject, subject.issue.id, { state_event: 'close' })
  })
}
