/** Rebase: recreates the commits of a merge request on the tip of its target, and pushes them to the source. */
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden } from '../../../errors.ts'
import { rebaseCommits } from '../../../git/merging/merging.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { bringCommit } from '../../../git/storage/copy.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { signerOf } from '../../repository/commits/landing.ts'
import { changeRefs, webPusher } from '../../repository/gate/service.ts'
import { withBranchMutex } from '../../repository/gate/branch-mutex.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { mayPushTo } from '../../repository/repositories/rights.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { findTips } from '../versions/service.ts'

const FAILED = 'Rebase failed. Please rebase locally'

/** Stores a failure with the merge request. With `stack`, its children are rebased, too. */
export async function rebaseMergeRequest(
  app: App,
  actor: User,
  subject: MergeRequestSubject,
  { stack = false }: { stack?: boolean } = {},
): Promise<void> {
  const { mergeRequest: one } = subject
  if (one.state !== 'opened') throw new Refusal('not_allowed')
  const source = await sourceOf(app, actor, one)
  await assertMayRewrite(app, source, one.source_branch)
  const isDone = await rebase(app, actor, subject, source, one)
  if (isDone && stack) await rebaseAbove(app, actor, subject, one)
}

/** Nobody builds deeper stacks by hand. */
const DEEPEST = 50

async function rebaseAbove(app: App, actor: User, subject: MergeRequestSubject, first: MergeRequest): Promise<void> {
  const seen = new Set([first.id])
  let below = [first]
  for (let depth = 0; depth < DEEPEST && below.length > 0; depth++) {
    const branches = below.map(({ source_branch }) => source_branch)
    const above = await app.db
      .selectFrom('merge_requests')
      .selectAll()
      .where('project_id', '=', subject.project.id)
      .where('source_project_id', '=', subject.project.id)
      .where('target_branch', 'in', branches)
      .where('state', '=', 'opened')
      .orderBy('id')
      .limit(DEEPEST)
      .execute()
    below = []
    for (const one of above) {
      if (seen.has(one.id)) continue
      seen.add(one.id)
      await assertMayRewrite(app, subject, one.source_branch)
      if (await rebase(app, actor, subject, subject, one)) below.push(one)
    }
  }
}

async function sourceOf(app: App, actor: User, { source_project_id }: MergeRequest): Promise<RepositorySubject> {
  const project = source_project_id === null ? null : await findProjectById(app.db, source_project_id)
  if (!project) throw forbidden('Source branch does not exist')
  return loadRepositorySubject(app, project, actor)
}

async function assertMayRewrite(app: App, source: RepositorySubject, branch: string): Promise<void> {
  const may = await mayPushTo(app, source, branch)
  if (!may.push) throw forbidden('Cannot push to source branch')
  if (!may.rewrite) throw forbidden('Source branch is protected from force push')
}

/** True if the source is now on top of its target. */
async function rebase(
  app: App,
  actor: User,
  target: RepositorySubject,
  source: RepositorySubject,
  one: MergeRequest,
): Promise<boolean> {
  return withBranchMutex(source.dir, one.source_branch, async () => {
    const tips = await findTips(app, target.project, one)
    const ref = `refs/heads/${one.source_branch}`
    const before = await resolveRef(source.dir, ref)
    if (before === null || tips.target === null) throw forbidden('Source branch does not exist')
    if (source.dir !== target.dir) await bringCommit(target.dir, source.dir, tips.target)
    const done = await rebaseCommits(source.dir, { from: before, onto: tips.target, committer: signerOf(app, actor) })
    if (done === null) return keepError(app, one, null)
    if (done.conflicts) return keepError(app, one, FAILED)
    const update = { ref, before, after: done.head }
    await changeRefs(app, webPusher(actor, source.level), source, [update], { pointers: true })
    return keepError(app, one, null)
  })
}

async function keepError({ db }: App, { id }: MergeRequest, merge_error: string | null): Promise<boolean> {
  await db.updateTable('merge_requests').set({ merge_error }).where('id', '=', id).execute()
  return merge_error === null
}
