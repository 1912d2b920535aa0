/**
 * Creates trees, commits and tags without a working copy or an index. Reads and writes only folders that change. Names
 * may come from users and never reach a command line. A tree that git would reject is not created.
 */
import { pauses } from '../../lib/async/pauses.ts'
import { trimEnds } from '../../lib/text/trimming.ts'
import { CONTROL, LONGEST_PATH } from '../process/arguments.ts'
import { checkedId } from './ids.ts'
import { LooseObjects, writeObject } from './loose.ts'
import { objectInfos, readObject, type ObjectType } from './objects.ts'

export type FileMode = '100644' | '100755' | '120000' | '160000'

/** `content` or `id` is the new file; `null` deletes it. The mode stays, or is that of a regular file. */
export type Change =
  | { readonly path: string; readonly content: string | Uint8Array; readonly mode?: FileMode }
  | { readonly path: string; readonly id: string; readonly mode?: FileMode }
  | { readonly path: string; readonly content: null }

export type BadChangeReason = 'name' | 'twice' | 'missing' | 'folder in the way' | 'file in the way'

/** A change that this tree does not allow. */
export class BadChange extends Error {
  readonly path: string
  readonly reason: BadChangeReason

  constructor(path: string, reason: BadChangeReason) {
    super(`cannot change this path: ${reason}`)
    this.name = 'BadChange'
    this.path = path
    this.reason = reason
  }
}

/** Applies the changes to `base`, the id of a commit or tree, and returns the id of the new tree. */
export function buildTree(dir: string, base: string | null, changes: readonly Change[]): Promise<string> {
  return written(dir, (objects) => treeOf(objects, base, changes))
}

export type CommitWords = Pick<CommitParts, 'message' | 'author' | 'committer'>

/** Creates a commit with these changes to its parent, or to an empty tree without one. Returns its id. */
export function buildCommit(
  dir: string,
  parent: string | null,
  changes: readonly Change[],
  words: CommitWords,
): Promise<string> {
  return written(dir, async (objects) => {
    const tree = await treeOf(objects, parent, changes)
    return addCommit(objects, { ...words, tree, parents: parent === null ? [] : [parent] })
  })
}

async function written(dir: string, add: (objects: LooseObjects) => Promise<string>): Promise<string> {
  const objects = new LooseObjects(dir)
  const id = await add(objects)
  await objects.write()
  return id
}

async function treeOf(objects: LooseObjects, base: string | null, changes: readonly Change[]): Promise<string> {
  return (await assemble(objects, planOf(changes), base, pauses())) ?? objects.add('tree', '')
}

/** By name: `changes` are for files of this folder, `folders` contain the others. */
interface Plan {
  readonly changes: Map<string, Change>
  readonly folders: Map<string, Plan>
}

const emptyPlan = (): Plan => ({ changes: new Map(), folders: new Map() })

function planOf(changes: readonly Change[]): Plan {
  const root = emptyPlan()
  for (const change of changes) {
    const parts = change.path.split('/')
    if (change.path.length > LONGEST_PATH) throw new BadChange(change.path, 'name')
    const name = parts.pop()!
    if ('mode' in change && change.mode === '120000' && isGitFile(name)) throw new BadChange(change.path, 'name')
    let plan = root
    for (const part of parts) {
      if (!plan.folders.has(part)) plan.folders.set(part, emptyPlan())
      plan = plan.folders.get(part)!
    }
    if (plan.changes.has(name)) throw new BadChange(change.path, 'twice')
    plan.changes.set(name, change)
  }
  return root
}

// HFS+ ignores these characters: `.g\u200cit` is `.git` there.
const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// NTFS accepts both slashes, drops trailing dots and spaces, and has short names and streams after a colon.
const GIT_FOLDER = /^(\.git|git~\d+)[ .]*(:.*)?$/i

/** Whether a new path segment is safe in a tree that others check out, on any system. Existing segments may stay. */
export function isFileName(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || Buffer.byteLength(part) > 255) return false
  // It stands for an unknown byte. A file with this spelling would be a second file next to the original.
  if (part.includes('\uFFFD')) return false
  return (
    part.isWellFormed() && !CONTROL.test(part) && !part.includes('\\') && !GIT_FOLDER.test(part.replaceAll(UNSEEN, ''))
  )
}

/** Git reads these files itself, so they must not be links to elsewhere. */
const isGitFile = (name: string) => /^\.git(modules|ignore|attributes)|^\.mailmap/i.test(name.replaceAll(UNSEEN, ''))

interface Entry {
  readonly mode: string
  readonly id: string
}

/** Names are latin1, because tree names may contain any bytes. */
type Entries = Map<string, Entry>

const latin = (name: string) => Buffer.from(name).toString('latin1')

const MAX_TREE = 64 * 1024 * 1024

async function readTree(dir: string, id: string): Promise<Entries> {
  const tree = await readObject(dir, checkedId(id), { as: 'tree', maxBytes: MAX_TREE, maxTotal: MAX_TREE })
  if (!tree?.content) throw new TypeError('not a commit or tree of this repository')
  return entriesOf(tree.content)
}

function entriesOf(tree: Buffer): Entries {
  const entries: Entries = new Map()
  for (let at = 0; at < tree.length;) {
    const blank = tree.indexOf(0x20, at)
    const zero = tree.indexOf(0, blank)
    const id = tree.toString('hex', zero + 1, zero + 21)
    entries.set(tree.toString('latin1', blank + 1, zero), { mode: tree.toString('latin1', at, blank), id })
    at = zero + 21
  }
  return entries
}

const isFolder = (entry: Entry | undefined) => entry !== undefined && /^0?40000$/.test(entry.mode)

/** The new tree of the folder. Null if it is empty. */
async function assemble(
  objects: LooseObjects,
  plan: Plan,
  base: string | null,
  pause: ReturnType<typeof pauses>,
): Promise<string | null> {
  await pause()
  const entries: Entries = base === null ? new Map() : await readTree(objects.dir, base)
  // Deletes files before it adds folders, and folders before it adds files, because a name may change its type.
  for (const [name, change] of plan.changes) if (isRemoval(change)) remove(entries, name, change.path)
  for (const [name, inner] of plan.folders) {
    const before = entries.get(latin(name))
    if (before && !isFolder(before)) throw new BadChange(pathIn(inner), 'file in the way')
    if (!before && !isFileName(name)) throw new BadChange(pathIn(inner), 'name')
    const id = await assemble(objects, inner, before?.id ?? null, pause)
    if (id === null) entries.delete(latin(name))
    else entries.set(latin(name), { mode: '40000', id })
  }
  await addFiles(objects, entries, plan.changes)
  return entries.size === 0 ? null : objects.add('tree', bytesOf(entries))
}

async function addFiles(objects: LooseObjects, entries: Entries, changes: Plan['changes']): Promise<void> {
  const files = [...changes].flatMap(([name, change]) => (isRemoval(change) ? [] : [{ name, change }]))
  await assertBlobs(
    objects.dir,
    files.map(({ change }) => change),
  )
  for (const { name, change } of files) {
    const before = entries.get(latin(name))
    if (isFolder(before)) throw new BadChange(change.path, 'folder in the way')
    if (!before && !isFileName(name)) throw new BadChange(change.path, 'name')
    const mode = change.mode ?? (before?.mode === SUBMODULE ? undefined : before?.mode) ?? '100644'
    entries.set(latin(name), { mode, id: 'id' in change ? change.id : objects.add('blob', change.content) })
  }
}

/** Any path that leads to this folder. */
function pathIn(plan: Plan): string {
  const [change] = plan.changes.values()
  const [inner] = plan.folders.values()
  return change ? change.path : inner ? pathIn(inner) : ''
}

type Removal = Extract<Change, { content: null }>
const isRemoval = (change: Change): change is Removal => 'content' in change && change.content === null

function remove(entries: Entries, name: string, path: string): void {
  const entry = entries.get(latin(name))
  if (!entry) throw new BadChange(path, isFileName(name) ? 'missing' : 'name')
  if (isFolder(entry)) throw new BadChange(path, 'folder in the way')
  entries.delete(latin(name))
}

const SUBMODULE = '160000'

/** The commit of a submodule is in another repository. All other objects must be in this one. */
async function assertBlobs(dir: string, changes: readonly Exclude<Change, Removal>[]): Promise<void> {
  if (changes.some((change) => !('id' in change) && change.mode === SUBMODULE)) {
    throw new TypeError('a submodule is an id')
  }
  const named = changes.flatMap((change) => ('id' in change ? [{ id: checkedId(change.id), mode: change.mode }] : []))
  const ids = named.filter(({ mode }) => mode !== SUBMODULE).map(({ id }) => id)
  const infos = await objectInfos(dir, ids)
  if (infos.some((info) => info?.type !== 'blob')) throw new TypeError('not a blob')
}

/** In git's order, which compares folder names as if they ended with a slash. */
function bytesOf(entries: Entries): Buffer {
  const keyed = [...entries].map(([name, entry]) => ({ name, entry, key: isFolder(entry) ? `${name}/` : name }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return Buffer.concat(
    keyed.flatMap(({ name, entry }) => [
      Buffer.from(`${entry.mode} ${name}\0`, 'latin1'),
      Buffer.from(entry.id, 'hex'),
    ]),
  )
}

/** A person with the local time: in seconds, with the zone in git's format (`+0200`). */
export interface Signer {
  readonly name: string
  readonly email: string
  readonly date: Date
  readonly zone?: string
}

export interface CommitParts {
  readonly tree: string
  readonly parents: readonly string[]
  /** Stored unchanged. */
  readonly message: string
  readonly author: Signer
  readonly committer: Signer
}

export function writeCommit(dir: string, parts: CommitParts): Promise<string> {
  return written(dir, async (objects) => addCommit(objects, parts))
}

function addCommit(objects: LooseObjects, { tree, parents, message, author, committer }: CommitParts): string {
  const head = [
    `tree ${checkedId(tree)}`,
    ...parents.map((id) => `parent ${checkedId(id)}`),
    `author ${signature(author)}`,
    `committer ${signature(committer)}`,
  ]
  return objects.add('commit', `${head.join('\n')}\n\n${withoutZero(message)}`)
}

export interface TagParts {
  readonly name: string
  readonly object: string
  /** The type of the object. Default: a commit. */
  readonly type?: ObjectType
  readonly message: string
  readonly tagger: Signer
}

/** Writes the object of an annotated tag. The caller creates the ref. */
export async function writeTag(
  dir: string,
  { name, object, type = 'commit', message, tagger }: TagParts,
): Promise<string> {
  if (CONTROL.test(name)) throw new TypeError('not a tag name')
  const head = [`object ${checkedId(object)}`, `type ${type}`, `tag ${name}`, `tagger ${signature(tagger)}`]
  return writeObject(dir, 'tag', `${head.join('\n')}\n\n${withoutZero(message)}`)
}

const withoutZero = (text: string) => text.replaceAll('\0', '')

/** The text after `author ` in a commit. */
export function signature({ name, email, date, zone = '+0000' }: Signer): string {
  if (!/^[+-]\d{4}$/.test(zone)) throw new TypeError('not a zone')
  const seconds = Math.max(0, Math.floor(date.getTime() / 1000))
  return `${plain(name)} <${plain(email).replaceAll(' ', '')}> ${seconds} ${zone}`
}

/** Cleans names like git: removes everything that would end the field or the line. */
const plain = (text: string) =>
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  trimEnds(text.replaceAll(/[<>\0-\x1f\x7f]+/g, ''), (character) => /[\s.,:;"\\']/.test(character))
