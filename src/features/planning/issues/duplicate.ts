import type { App, TransactionApp, User } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { addSystemNotes } from '../notes/system.ts'
import type { IssueSubject } from './policy.ts'
import { updateIssue } from './service.ts'

/** Closes a duplicate. Both issues get a note about the other. */
export async function markDuplicate(
  app: App,
  actor: User,
  subject: IssueSubject,
  original: IssueSubject,
): Promise<void> {
  const isSame = subject.project.id === original.project.id
  const named = ({ project, namespace, issue }: IssueSubject) =>
    `${isSame ? '' : pathWithNamespace(project, namespace)}#${issue.iid}`
  const tell = (app: TransactionApp, { project, issue }: IssueSubject, body: string, other: IssueSubject) =>
    addSystemNotes(app, actor, { project_id: project.id, issue_id: issue.id }, [
      { action: 'duplicate', body, about: { issue_id: other.issue.id } },
    ])
  await transact(app, async (app) => {
    await app.db
      .updateTable('issues')
      .set({ duplicated_to_id: original.issue.id })
      .where('id', '=', subject.issue.id)
      .execute()
    await tell(app, subject, `marked this issue as a duplicate of ${named(original)}`, original)
    await tell(app, original, `marked ${named(subject)} as a duplicate of this issue`, subject)
    await updateIssue(app, actor, subject, subject.issue.id, { state_event: 'close' })
  })
}
