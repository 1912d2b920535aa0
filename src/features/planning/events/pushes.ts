import type { App } from '../../../context.ts'
import { findCommits, type Commit } from '../../../git/objects/commits.ts'
import { countCommits } from '../../../git/history/history.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { branchOf, tagOf, type Update } from '../../repository/gate/updates.ts'
import type { PushData } from './model.ts'

const LONGEST_TITLE = 70

/** A mirror pushes thousands of branches: the commits of so many different tips are counted, and no more. */
const MOST_COUNTED = 50
const COMMITS_AT_ONCE = 500

/** In the order of the updates; null for a ref that is neither a branch nor a tag. */
export async function pushDataOf(app: App, project: Project, updates: readonly Update[]): Promise<(PushData | null)[]> {
  const dir = repositoryDir(app, project)
  const titles = await titlesOf(dir, updates)
  const counts = new Map<string, number>()
  const data: (PushData | null)[] = []
  for (const { ref: whole, before, after } of updates) {
    const branch = branchOf(whole)
    const ref = branch ?? tagOf(whole)
    const tip = after === null ? undefined : titles.get(after)
    const range = tip && branch !== null ? newCommits(project, { branch, before, after: tip.id }) : null
    if (range && !counts.has(range.key) && counts.size < MOST_COUNTED)
      counts.set(range.key, await countCommits(dir, range))
    data.push(
      ref === null
        ? null
        : {
            commit_count: range ? (counts.get(range.key) ?? 0) : tip ? 1 : 0,
            action: before === null ? 'created' : after === null ? 'removed' : 'pushed',
            ref_type: branch === null ? 'tag' : 'branch',
            commit_from: before,
            commit_to: after,
            ref,
            commit_title: tip ? Array.from(tip.title).slice(0, LONGEST_TITLE).join('') : null,
          },
    )
  }
  return data
}

/** The commits that the new values name, also by tag. */
async function titlesOf(
  dir: string,
  updates: readonly Update[],
): Promise<ReadonlyMap<string, Pick<Commit, 'id' | 'title'>>> {
  const titles = new Map<string, Pick<Commit, 'id' | 'title'>>()
  const tips = new Set(updates.flatMap(({ after }) => after ?? []))
  for (const some of batchesOf([...tips], COMMITS_AT_ONCE))
    for (const [n, commit] of (await findCommits(dir, some)).entries())
      if (commit) titles.set(some[n]!, { id: commit.id, title: commit.title })
  return titles
}

/** For a new branch, only commits that the default branch does not have. */
function newCommits(
  { default_branch }: Project,
  { branch, before, after }: { branch: string; before: string | null; after: string },
) {
  const known = before ?? (branch === default_branch ? null : `refs/heads/${default_branch}`)
  return { key: `${known} ${after}`, from: after, ...(known && { not: [known] }) }
}
