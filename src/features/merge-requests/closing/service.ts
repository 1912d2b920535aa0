import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { lockMergeRequest } from '../merge-requests/service.ts'
import { findClosing } from './queries.ts'

/** Stores the issues that a merge request closes, as its author may see them, so that readers need only a query. */
export async function keepClosing(app: App, id: number): Promise<void> {
  const [one] = await findMergeRequests(app.db, [id])
  const [author, project] = one
    ? await Promise.all([
        one.author_id === null ? null : findUser(app.db, one.author_id),
        findProjectById(app.db, one.project_id),
      ])
    : []
  if (!one || !author || !project) return // deleted meanwhile
  const { issues } = await findClosing(app, author, await loadRepositorySubject(app, project, author), one)
  const issueIds = new Set(issues.map(({ issue }) => issue.id))
  await transact(app, async (app) => {
    await lockMergeRequest(app, id)
    const rows = await app.db
      .selectFrom('merge_request_closes')
      .select('issue_id')
      .where('merge_request_id', '=', id)
      .execute()
    const known = new Set(rows.map(({ issue_id }) => issue_id))
    const gone = [...known].filter((issue) => !issueIds.has(issue))
    const added = [...issueIds].filter((issue) => !known.has(issue))
    if (gone.length > 0) {
      await app.db
        .deleteFrom('merge_request_closes')
        .where('merge_request_id', '=', id)
        .where('issue_id', 'in', gone)
        .execute()
    }
    if (added.length > 0) {
      const links = added.map((issue_id) => ({ merge_request_id: id, issue_id }))
      await app.db.insertInto('merge_request_closes').values(links).execute()
    }
  })
}
