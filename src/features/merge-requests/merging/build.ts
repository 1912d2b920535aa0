/** Builds the commits of a merge as objects only: no ref moves. Both sides are commits of this repository. */
import { aheadBehind, isAncestor, mergeBase } from '../../../git/history/history.ts'
import { mergeCommits } from '../../../git/merging/merging.ts'
import { writeCommit, type Signer } from '../../../git/objects/building.ts'
import { rootOf } from '../../../git/objects/trees.ts'

export interface MergePlan {
  readonly method: 'merge' | 'rebase_merge' | 'ff'
  readonly squash: boolean
  /** The tip of the target and the head of the source. */
  readonly target: string
  readonly head: string
  readonly message: string
  readonly squashMessage: string
  readonly author: Signer
  readonly merger: Signer
}

export interface Built {
  /** The new tip of the target. */
  readonly commit: string
  readonly mergeCommit: string | null
  readonly squashCommit: string | null
  /** Whether the result may contain files that neither side has. */
  readonly isMixed: boolean
}

export type BuildResult = Built | { readonly fault: 'conflict' | 'rebase' | 'empty' }

export async function buildMerge(dir: string, plan: MergePlan): Promise<BuildResult> {
  const { method, target, head } = plan
  const base = await mergeBase(dir, [target, head])
  if (base === null) return { fault: 'conflict' }
  if (base === head) return { fault: 'empty' }
  const squashes = plan.squash && !(await isSingle(dir, base, head))
  // A single commit that is not on the tip is recreated there, too.
  if (method === 'ff')
    return squashes || (plan.squash && base !== target) ? squashOnto(dir, plan, base) : forward(dir, plan)
  if (method === 'rebase_merge' && base !== target) return { fault: 'rebase' }
  const squashCommit = squashes ? await squashed(dir, plan, base) : null
  const theirs = squashCommit ?? head
  const { tree, isMixed } = await joined(dir, base, target, theirs)
  if (tree === undefined) return { fault: 'conflict' }
  const { message, merger } = plan
  const mergeCommit = await writeCommit(dir, {
    tree,
    parents: [target, theirs],
    message,
    author: merger,
    committer: merger,
  })
  return { commit: mergeCommit, mergeCommit, squashCommit, isMixed }
}

async function joined(dir: string, base: string, ours: string, theirs: string) {
  if (base === ours) return { tree: await treeOf(dir, theirs), isMixed: false }
  return { tree: (await mergeCommits(dir, { ours, theirs })).tree, isMixed: true }
}

const isSingle = async (dir: string, base: string, head: string) => (await aheadBehind(dir, head, base))?.ahead === 1

async function treeOf(dir: string, commit: string): Promise<string> {
  const tree = await rootOf(dir, commit, {})
  if (tree === null) throw new TypeError('not a commit of this repository')
  return tree
}

/** All changes as one commit on the merge base. */
const squashed = async (dir: string, { head, squashMessage, author, merger }: MergePlan, base: string) =>
  writeCommit(dir, {
    tree: await treeOf(dir, head),
    parents: [base],
    message: squashMessage,
    author,
    committer: merger,
  })

async function forward(dir: string, { target, head }: MergePlan): Promise<BuildResult> {
  if (!(await isAncestor(dir, target, head))) return { fault: 'rebase' }
  return { commit: head, mergeCommit: null, squashCommit: null, isMixed: false }
}

/** All changes as one commit on the target's tip, which needs no rebase. */
async function squashOnto(dir: string, plan: MergePlan, base: string): Promise<BuildResult> {
  const { target, head, squashMessage, author, merger } = plan
  const { tree, isMixed } = await joined(dir, base, target, head)
  if (tree === undefined) return { fault: 'conflict' }
  const commit = await writeCommit(dir, { tree, parents: [target], message: squashMessage, author, committer: merger })
  return { commit, mergeCommit: null, squashCommit: commit, isMixed }
}
