/** What merging would come to, for whoever builds or tests it before it is merged. */
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { mergeCommits } from '../../../git/merging/merging.ts'
import { writeCommit } from '../../../git/objects/building.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { dropRef, pointAt } from '../../../git/refs/pointing.ts'
import { findUser } from '../../identity/users/queries.ts'
import { signerOf } from '../../repository/commits/landing.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { mergeRef } from '../versions/refs.ts'

const notMergeable = () => new Refusal('bad_request', 'Merge request is not mergeable')

/** The commit at `refs/merge-requests/:iid/merge`, made anew where one of its parents has moved. */
export async function mergeToRef(app: App, viewer: User, subject: MergeRequestSubject): Promise<string> {
  const { project, dir } = subject
  const one = await freshlyChecked(app, subject.mergeRequest, project)
  const ref = mergeRef(one.iid)
  const { head_sha: head, check_target: target } = one
  const known = await findCommit(dir, ref)
  if (one.state !== 'opened') {
    if (known) return known.id
    throw notMergeable()
  }
  if (one.check_result !== 'mergeable' || head === null || target === null) {
    await dropRef(dir, ref)
    throw notMergeable()
  }
  if (known?.parents.join() === [target, head].join()) return known.id
  const { tree } = await mergeCommits(dir, { ours: target, theirs: head })
  if (tree === undefined) throw notMergeable()
  const author = one.author_id === null ? null : await findUser(app.db, one.author_id)
  const signer = signerOf(app, author ?? viewer)
  const message = `Merge ${head} into ${target}\n`
  const commit = await writeCommit(dir, { tree, parents: [target, head], message, author: signer, committer: signer })
  await pointAt(dir, ref, commit)
  return commit
}
