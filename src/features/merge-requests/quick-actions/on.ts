import { on } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findIssues } from '../../planning/issues/queries.ts'
import { issueKind } from '../../planning/issues/kind.ts'
import { labelsOfItems } from '../../planning/items/links.ts'
import { titlesOf } from '../../planning/quick-actions/shared.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { mergeRequestsPolicy } from '../merge-requests/policy.ts'
import { createMergeRequest } from '../merge-requests/service.ts'

/** Opens a merge request for a branch created from an issue, with the issue's labels and milestone. */
export const proposeBranch = on('issue.branched', 'merge requests', async (app, { id, by, branch }) => {
  const [[issue], actor] = await Promise.all([findIssues(app.db, [id]), findUser(app.db, by)])
  const subject = issue && actor && (await findRepositorySubject(app, String(issue.project_id), actor))
  const target = subject?.project.default_branch
  if (!subject || !target || !mergeRequestsPolicy.createMergeRequest(subject)) return // deleted or forbidden meanwhile
  const labels = (await labelsOfItems(app.db, issueKind, [id])).get(id) ?? []
  await createMergeRequest(app, actor, subject, {
    source_branch: branch,
    target_branch: target,
    title: `Draft: Resolve "${Array.from(issue.title).slice(0, 230).join('')}"`,
    description: `Closes #${issue.iid}`,
    assignee_ids: [by],
    labels: titlesOf(labels),
    milestone_id: issue.milestone_id,
  }).catch((error: unknown) => {
    // The merge request exists already, the branch was deleted, or merge requests are disabled.
    if (!(error instanceof Refusal)) throw error
  })
})
