/** The trial merge of a merge request, for builds and tests before the merge. */
import type { App, User } from '../../../context.ts'
import { Refusal, readOnlyInstance } from '../../../errors.ts'
import { mergeCommits } from '../../../git/merging/merging.ts'
import { writeCommit } from '../../../git/objects/building.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { dropRef, pointAt } from '../../../git/refs/pointing.ts'
import { findUser } from '../../identity/users/queries.ts'
import { signerOf } from '../../repository/commits/landing.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { mergeRef } from '../versions/refs.ts'

const notMergeable = () => new Refusal('bad_request', 'Merge request is not mergeable')

type Merged = Pick<MergeRequestSubject, 'project' | 'dir'> & { readonly mergeRequest: MergeRequest }

export async function mergeToRef(app: App, viewer: User, subject: Merged): Promise<string> {
  const commit = await tryMerge(app, viewer, subject)
  if (!commit) throw notMergeable()
  return commit.id
}

/**
 * The commit at `refs/merge-requests/:iid/merge`, recreated where one of its parents has moved. Null if the branches
 * cannot be merged.
 */
export async function tryMerge(
  app: App,
  viewer: User,
  subject: Merged,
): Promise<{ id: string; parents: readonly string[] } | null> {
  const { project, dir } = subject
  const one = await freshlyChecked(app, subject.mergeRequest, project)
  const ref = mergeRef(one.iid)
  const { head_sha: head, check_target: target } = one
  const known = await findCommit(dir, ref)
  if (one.state !== 'opened') return known
  if (app.config.readOnly) {
    if (known && known.parents.join() === [target, head].join()) return known
    throw readOnlyInstance()
  }
  if (one.check_result !== 'mergeable' || head === null || target === null) {
    await dropRef(dir, ref)
    return null
  }
  const parents = [target, head]
  if (known?.parents.join() === parents.join()) return known
  const { tree } = await mergeCommits(dir, { ours: target, theirs: head })
  if (tree === undefined) return null
  const author = one.author_id === null ? null : await findUser(app.db, one.author_id)
  const signer = signerOf(app, author ?? viewer)
  const message = `Merge ${head} into ${target}\n`
  const commit = await writeCommit(dir, { tree, parents, message, author: signer, committer: signer })
  await pointAt(dir, ref, commit)
  return { id: commit, parents }
}
