import type { App } from '../../../context.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { countCommits } from '../../../git/history/history.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { branchOf, tagOf, type Update } from '../../repository/gate/updates.ts'
import type { PushData } from './model.ts'

const LONGEST_TITLE = 70

/** Null for a ref that is neither a branch nor a tag. */
export async function pushDataOf(app: App, project: Project, update: Update): Promise<PushData | null> {
  const { before, after } = update
  const branch = branchOf(update.ref)
  const ref = branch ?? tagOf(update.ref)
  if (ref === null) return null
  const dir = repositoryDir(app, project)
  const tip = after === null ? null : await findCommit(dir, after)
  return {
    commit_count: tip ? await countNew(dir, project, { branch, before, after: tip.id }) : 0,
    action: before === null ? 'created' : after === null ? 'removed' : 'pushed',
    ref_type: branch === null ? 'tag' : 'branch',
    commit_from: before,
    commit_to: after,
    ref,
    commit_title: tip ? Array.from(tip.title).slice(0, LONGEST_TITLE).join('') : null,
  }
}

/** For a new branch, only commits that the default branch does not have. */
async function countNew(
  dir: string,
  { default_branch }: Project,
  { branch, before, after }: { branch: string | null; before: string | null; after: string },
): Promise<number> {
  if (branch === null) return 1
  const known = before ?? (branch === default_branch ? null : `refs/heads/${default_branch}`)
  return countCommits(dir, { from: after, ...(known && { not: [known] }) })
}
