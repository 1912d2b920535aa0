/** Effects of a merge: retargets child merge requests, removes the source branch, closes issues. */
import { on, type App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { findUser } from '../../identity/users/queries.ts'
import { issuePolicy } from '../../planning/issues/policy.ts'
import { updateIssue } from '../../planning/issues/service.ts'
import { findProjectById, pathWithNamespace, type Project } from '../../projects/projects/queries.ts'
import { changeRefs, webPusher } from '../../repository/gate/service.ts'
import { isProtected } from '../../repository/protected-branches/matching.ts'
import { findProtection } from '../../repository/protected-branches/queries.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { findClosing } from '../closing/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { updateMergeRequest } from '../merge-requests/service.ts'

/** Idempotent. The merging request runs it before its answer, and the subscriber of the merge event runs it again. */
export async function followMerge(app: App, id: number): Promise<void> {
  const [merged] = await findMergeRequests(app.db, [id])
  const target = merged && (await findProjectById(app.db, merged.project_id))
  if (!target || merged.state !== 'merged') return
  await retargetChildren(app, merged, target)
  await removeSource(app, merged)
  await closeIssues(app, merged, target)
}

export const followMerged = on('merge_request.merged', 'merging', (app, { id }) => followMerge(app, id))

/** Merge requests into the merged source branch now go to its target. */
async function retargetChildren(app: App, merged: MergeRequest, target: Project): Promise<void> {
  if (merged.source_project_id !== merged.project_id || merged.merge_user_id === null) return
  const actor = await findUser(app.db, merged.merge_user_id)
  const children = await app.db
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', merged.project_id)
    .where('target_branch', '=', merged.source_branch)
    .where('state', '=', 'opened')
    .execute()
  if (!actor || children.length === 0) return
  const subject = await loadRepositorySubject(app, target, actor)
  for (const child of children) {
    await updateMergeRequest(app, actor, subject, child.id, { target_branch: merged.target_branch }).catch(
      (error: unknown) => {
        // Another merge request exists from its branch to the new target: this one keeps its target.
        if (!(error instanceof Refusal)) throw error
      },
    )
  }
}

/** Removes the source branch with the rights of the user who asked for it: the merger, else the author. */
async function removeSource(app: App, merged: MergeRequest): Promise<void> {
  const { should_remove_source_branch: atMerge, force_remove_source_branch: before } = merged
  const byAuthor = atMerge === null && before ? merged.author_id : null
  const wisher = atMerge ? merged.merge_user_id : byAuthor
  if (wisher === null || merged.source_project_id === null) return
  const [actor, source] = await Promise.all([
    findUser(app.db, wisher),
    findProjectById(app.db, merged.source_project_id),
  ])
  if (actor?.state !== 'active' || !source || source.default_branch === merged.source_branch) return
  const subject = await loadRepositorySubject(app, source, actor)
  const ref = `refs/heads/${merged.source_branch}`
  const tip = await resolveRef(subject.dir, ref)
  const isProtectedBranch = isProtected(await findProtection(app.db, source.id, 'branch'), merged.source_branch)
  // Commits pushed since the merge would be lost.
  if (tip === null || tip !== merged.head_sha || isProtectedBranch || !repositoryPolicy.push(subject)) return
  const update = { ref, before: tip, after: null }
  await changeRefs(app, webPusher(actor, subject.level), subject, [update]).catch(async (error: unknown) => {
    if (!(error instanceof Refusal)) throw error
    // The request and the event subscriber both try: the second finds the branch removed.
    if ((await resolveRef(subject.dir, ref)) === null) return
    app.log.info({ project: source.id, branch: merged.source_branch, why: error.message }, 'source branch not removed')
  })
}

async function closeIssues(app: App, merged: MergeRequest, target: Project): Promise<void> {
  const actor = merged.merge_user_id === null ? null : await findUser(app.db, merged.merge_user_id)
  if (!actor || !target.autoclose_referenced_issues) return
  const subject = await loadRepositorySubject(app, target, actor)
  const { issues } = await findClosing(app, actor, subject, merged)
  for (const found of issues) {
    if (found.issue.state !== 'opened' || !issuePolicy.update(found)) continue
    const isSame = found.project.id === target.id
    const name = `merge request ${isSame ? '' : pathWithNamespace(target, subject.namespace)}!${merged.iid}`
    const via = { name, project_id: target.id }
    await updateIssue(app, actor, found, found.issue.id, { state_event: 'close' }, via)
  }
}
