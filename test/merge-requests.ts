/** Merge requests for tests that need one to be there. */
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

export const oneMergeRequest = async (s: Stage) => ({ merge_request_iid: (await mergeRequestAt(s)).iid as number })

/** What a new one is made of: its branch is there. */
export async function newMergeRequest(s: Stage) {
  const branch = unique('branch')
  await s.make(`/projects/${s.project.id}/repository/branches`, { branch, ref: 'master' })
  return { source_branch: branch, target_branch: 'master', title: `Merge ${branch}` }
}
