/** Merge requests for tests that need one to be there. */
import { weakMemo } from '../src/lib/async/weak-memo.ts'
import { unique, type Stage } from './cases.ts'

/** A branch with a commit on it, and a merge request of it to `master`, made by the owner. */
export async function mergeRequestAt(s: Stage, input: Record<string, unknown> = {}) {
  const branch = unique('branch')
  await s.make(`/projects/${s.project.id}/repository/commits`, {
    branch,
    start_branch: 'master',
    commit_message: `Add ${branch}`,
    actions: [{ action: 'create', file_path: `${branch}.txt`, content: `${branch}\n` }],
  })
  return s.make(`/projects/${s.project.id}/merge_requests`, {
    source_branch: branch,
    target_branch: 'master',
    title: `Merge ${branch}`,
    ...input,
  })
}

const iidOf = ({ iid }: { iid: number }) => ({ merge_request_iid: iid })

const shared = weakMemo((s: Stage) => mergeRequestAt(s))
/** The same for all of a stage, as making one is slow: for what leaves it open, and for the next as it was. */
export async function oneMergeRequest(s: Stage) {
  const { iid } = await shared(s)
  // The branch it goes to may have moved, and who reads it first notes whether it still merges.
  await s.owner.get(`/projects/${s.project.id}/merge_requests/${iid}`)
  return iidOf({ iid })
}

/** One of their own, for what alters it. */
export const ownMergeRequest = async (s: Stage) => iidOf(await mergeRequestAt(s))

/** What a new one is made of: its branch is there. */
export async function newMergeRequest(s: Stage) {
  const branch = unique('branch')
  await s.make(`/projects/${s.project.id}/repository/branches`, { branch, ref: 'master' })
  return { source_branch: branch, target_branch: 'master', title: `Merge ${branch}` }
}
