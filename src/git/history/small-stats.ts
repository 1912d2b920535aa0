/** Counts the changed lines of a commit without a process, if it changed few and small files. */
import { lineChanges, type LineChanges } from '../../lib/text/line-changes.ts'
import { knownCommits, type Commit } from '../objects/commits.ts'
import { readKnown } from '../objects/objects.ts'
import { parseTree, readTree, type TreeEntry } from '../objects/trees.ts'

const MOST_FILES = 100
const MOST_TREES = 100
const LARGEST_FILE = 64 * 1024
const UNREADABLE = '\u{FFFD}'

interface Change {
  readonly before: TreeEntry | null
  readonly after: TreeEntry | null
}

/** Compared with the first parent. Null if git must count. */
export async function countSmall(dir: string, { tree, parents }: Commit): Promise<LineChanges | null> {
  const [parent] = await knownCommits(dir, parents.slice(0, 1))
  if (parent === null) return null
  const found = await changesBetween(dir, parent?.tree ?? null, tree)
  const changes = found && withoutRenames(found)
  return changes && sumOf(dir, changes)
}

async function changesBetween(dir: string, before: string | null, after: string): Promise<Change[] | null> {
  const changes: Change[] = []
  const trees: [string | null, string | null][] = [[before, after]]
  for (const pair of trees) {
    const [olds, event] = await Promise.all(pair.map((id) => entriesOf(dir, id)))
    if (!olds || !event) return null
    for (const name of new Set([...olds.keys(), ...event.keys()])) {
      const [old = null, now = null] = [olds.get(name), event.get(name)]
      if (old?.id === now?.id && old?.mode === now?.mode) continue
      const [a, b] = [old?.type === 'tree' ? old : null, now?.type === 'tree' ? now : null]
      if (a || b) trees.push([a?.id ?? null, b?.id ?? null])
      const change = { before: a ? null : old, after: b ? null : now }
      if (change.before || change.after) changes.push(change)
    }
    if (trees.length > MOST_TREES || changes.length > MOST_FILES) return null
  }
  return changes
}

/** Also null if a name is not valid text, or if attributes may define what is binary. */
async function entriesOf(dir: string, id: string | null): Promise<Map<string, TreeEntry> | null> {
  const tree = id === null ? null : await readTree(dir, id)
  if (id !== null && !tree) return null
  const entries = tree ? parseTree(tree.content) : []
  const isOdd = entries.some(({ name }) => name === '.gitattributes' || name.includes(UNREADABLE))
  return isOdd ? null : new Map(entries.map((entry) => [entry.name, entry]))
}

const kindOf = ({ mode }: TreeEntry) => mode.slice(0, 3)
const FILE = '100'

/** A pure rename changes no line. Null if files may have been renamed and edited, or changed their type. */
function withoutRenames(changes: readonly Change[]): Change[] | null {
  if (changes.some(({ before, after }) => before && after && kindOf(before) !== kindOf(after))) return null
  const deleted = changes.flatMap(({ before, after }) => (before && !after ? [before] : []))
  const added = changes.flatMap(({ before, after }) => (after && !before ? [after] : []))
  if (deleted.length === 0 || added.length === 0) return [...changes]
  const isAlone = (some: readonly TreeEntry[], id: string) => some.filter((entry) => entry.id === id).length === 1
  const isMoved = ({ id }: TreeEntry) => isAlone(added, id) && isAlone(deleted, id)
  if (![...deleted, ...added].every((entry) => kindOf(entry) === FILE) || !added.every(isMoved)) return null
  return changes.filter(({ before, after }) => !(before && !after ? isMoved(before) : after && !before))
}

async function sumOf(dir: string, changes: readonly Change[]): Promise<LineChanges | null> {
  const sides = changes.flatMap(({ before, after }) => (before?.id === after?.id ? [] : [before, after]))
  const blobs = sides.filter((entry) => entry?.type === 'blob').map((entry) => entry!.id)
  const objects = await readKnown(dir, [...new Set(blobs)], { maxBytes: LARGEST_FILE })
  const contents = new Map(objects.map((object) => [object?.id, object?.content]))
  let [additions, deletions] = [0, 0]
  for (let n = 0; n < sides.length; n += 2) {
    const [before, after] = [textOf(sides[n]!, contents), textOf(sides[n + 1]!, contents)]
    const counted = before && after && lineChanges(before, after)
    if (!counted) return null
    additions += counted.additions
    deletions += counted.deletions
  }
  return { additions, deletions }
}

function textOf(entry: TreeEntry | null, contents: ReadonlyMap<string | undefined, Buffer | null | undefined>) {
  if (!entry) return Buffer.alloc(0)
  // The text that git shows for a submodule in a diff.
  return entry.type === 'commit' ? Buffer.from(`Subproject commit ${entry.id}\n`) : contents.get(entry.id)
}
