/** Merge requests for tests that need one. */
import { weakMemo } from '../src/lib/async/weak-memo.ts'
import { unique, type Stage } from './cases.ts'

/** A branch with a commit, and a merge request of it to `master`, created by the owner. */
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
/** One for all tests of a stage, because creating one is slow: for tests that leave it open and unchanged. */
export async function oneMergeRequest(s: Stage) {
  const { iid } = await shared(s)
  // The target branch may have moved, and the first read stores whether it can still be merged.
  await s.owner.get(`/projects/${s.project.id}/merge_requests/${iid}`)
  return iidOf({ iid })
}

/** A new one, for tests that change it. */
export const ownMergeRequest = async (s: Stage) => iidOf(await mergeRequestAt(s))

/** The input of a new one, whose branch exists. */
export async function newMergeRequest(s: Stage) {
  const branch = unique('branch')
  await s.make(`/projects/${s.project.id}/repository/branches`, { branch, ref: 'master' })
  return { source_branch: branch, target_branch: 'master', title: `Merge ${branch}` }
}
