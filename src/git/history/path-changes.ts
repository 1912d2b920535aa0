/**
 * Follows one path through commits with cached trees. It carries a known answer of one commit forward to a later
 * commit. If nothing is known, or the known commit is too far back, git walks.
 */
import { knownCommits } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import { canonical, findEntry, isFile, partsOf, readTree, type TreeEntry } from '../objects/trees.ts'
import { ancestryOf } from './graph.ts'
import { logOf, type Walk } from './walks.ts'

interface Known {
  readonly commit: string
  readonly answer: string
}

/** How many commits to go back to a known one, before git is asked. On another branch a known answer may be useless. */
const STEPS = { onward: 100, aside: 20 }

/** Answers by commit and path, with the last answer of each path. */
class Answers {
  readonly #known = new Memory<Known>('commits of paths', ({ answer }) => answer.length)

  get(dir: string, path: string, commit: string): string | undefined {
    return this.#known.get(dir, `${commit}\0${path}`)?.answer
  }

  /** How far back to search for an answer. */
  async reachFrom(dir: string, path: string, commit: string): Promise<number> {
    const last = this.#known.get(dir, path)
    // A name that is not UTF-8 cannot be distinguished from others.
    if (!last || path.includes('\uFFFD')) return 0
    const leads = await ancestryOf(dir, commit)
    return leads && !leads(last.commit) ? STEPS.aside : STEPS.onward
  }

  keep(dir: string, path: string, commit: string, answer: string): void {
    this.#known.set(dir, `${commit}\0${path}`, { commit, answer })
    this.#known.set(dir, path, { commit, answer })
  }
}

const lastChanges = new Answers()

/**
 * The commit that last changed an existing file, as `git log -1` finds it: follows the first parent that has the same
 * content.
 */
export async function lastChange(walk: Walk): Promise<string | null> {
  const { dir, path = '' } = walk
  const [commit] = walk.from
  const known = lastChanges.get(dir, path, commit!)
  if (known !== undefined) return known
  const steps = await lastChanges.reachFrom(dir, path, commit!)
  const found = (await stepBack(dir, path, commit!, steps)) ?? (await askForLast(walk))
  if (found !== null) lastChanges.keep(dir, path, commit!, found)
  return found
}

async function stepBack(dir: string, path: string, commit: string, steps: number): Promise<string | null> {
  let at = commit
  for (let step = 0; step < steps; step++) {
    const known = lastChanges.get(dir, path, at)
    if (known !== undefined) return known
    const before = await parentBefore(dir, path, at)
    if (typeof before !== 'string') return before === null ? at : null
    at = before
  }
  return null
}

/** The first parent with the same content at the path, or null. Undefined if git must decide. */
async function parentBefore(dir: string, path: string, id: string): Promise<string | null | undefined> {
  const [commit] = await knownCommits(dir, [id])
  const parents = await knownCommits(dir, commit?.parents ?? [])
  if (!commit || parents.length === 0) return undefined
  for (const parent of parents) {
    const change = parent ? await changeBetween(dir, parent.tree, commit.tree, path) : 'unclear'
    if (change === 'unclear') return undefined
    if (change === 'none') return parent!.id
  }
  return null
}

async function askForLast(walk: Walk): Promise<string | null> {
  return (await logOf(walk, '--format=%H', { limit: 1 })).trimEnd() || null
}

/** Git cannot count while it follows renames, so commits are listed up to this limit. */
const MOST_FOLLOWED = 10_000
/** The length of an id and its line break. */
export const ID_LINE = 41

const histories = new Answers()

/** The ids of all commits that changed a file, following its earlier names, one per line. */
export async function followedIds(walk: Walk): Promise<string> {
  const { dir, path = '' } = walk
  const [commit] = walk.from
  if (!isOnlyPath(walk) || !commit) return askForFollowed(walk)
  const known = histories.get(dir, path, commit)
  if (known !== undefined) return known
  const steps = await histories.reachFrom(dir, path, commit)
  const found = (await addNewer(dir, path, commit, steps)) ?? (await askForFollowed(walk))
  histories.keep(dir, path, commit, found)
  return found
}

const isOnlyPath = ({ options: input, from, not, author }: Walk) =>
  from.length === 1 &&
  not.length === 0 &&
  !author &&
  !input.environment &&
  !input.since &&
  !input.until &&
  isUsual(input)
const isUsual = ({ firstParent, noMerges, order }: Walk['options']) => !firstParent && !noMerges && order !== 'topo'

const askForFollowed = (walk: Walk) => logOf(walk, '--format=%H', { limit: MOST_FOLLOWED })

/** Works only if nothing was renamed or merged in between. */
async function addNewer(dir: string, path: string, commit: string, steps: number): Promise<string | null> {
  let newer = ''
  let at = commit
  for (let step = 0; step < steps; step++) {
    const known = histories.get(dir, path, at)
    if (known !== undefined) return (newer + known).slice(0, MOST_FOLLOWED * ID_LINE)
    const [one] = await knownCommits(dir, [at])
    const [parent] = one?.parents.length === 1 ? await knownCommits(dir, one.parents) : []
    const change = one && parent ? await changeBetween(dir, parent.tree, one.tree, path) : 'unclear'
    if (!parent || change === 'unclear' || change === 'other') return null
    if (change === 'edit') newer += `${at}\n`
    at = parent.id
  }
  return null
}

/** `edit`: a file was changed in place; `other`: created, removed, or changed to another type. */
type Change = 'none' | 'edit' | 'other' | 'unclear'

/** Compares no deeper than the two trees differ. */
async function changeBetween(dir: string, before: string, after: string, path: string): Promise<Change> {
  let [a, b] = [before, after]
  const parts = partsOf(path)
  for (const [depth, part] of parts.entries()) {
    if (a === b) return 'none'
    const [one, other] = [await entryIn(dir, a, part), await entryIn(dir, b, part)]
    if (one?.id === other?.id && one?.mode === other?.mode) return 'none'
    if (depth === parts.length - 1) return one && other && isFile(one) && isFile(other) ? 'edit' : 'other'
    if (one?.type !== 'tree' || other?.type !== 'tree') return 'unclear'
    ;[a, b] = [one.id, other.id]
  }
  return 'unclear'
}

async function entryIn(dir: string, tree: string, name: string): Promise<TreeEntry | null> {
  const found = await readTree(dir, tree)
  const entry = found && findEntry(found.content, name)
  return entry && canonical(entry)
}
