/**
 * Applies the file actions of a request to the files of a commit, in order. Each action sees the result of the previous
 * ones. The first invalid action rejects them all. Nothing is written here.
 */
import { Refusal } from '../../../errors.ts'
import { LONGEST_PATH } from '../../../git/process/arguments.ts'
import { isFileName, type Change, type FileMode } from '../../../git/objects/building.ts'
import { pauses } from '../../../lib/async/pauses.ts'
import { entryAt, listTree, type TreeEntry } from '../../../git/objects/trees.ts'

/** The size limit in bytes of a request that writes files. */
export const LARGEST_FILE_BODY = 10 * 1024 * 1024

export interface Action {
  readonly action: string
  readonly file_path?: string | null | undefined
  readonly previous_path?: string | null | undefined
  readonly content?: string | null | undefined
  readonly encoding?: 'text' | 'base64' | null | undefined
  readonly last_commit_id?: string | null | undefined
  readonly execute_filemode?: boolean | null | undefined
}

/** The starting point of the actions: a commit id, or null for an empty tree. */
export interface Ground {
  readonly dir: string
  readonly base: string | null
  /** Rejects the action if another commit changed the file last. */
  assertUnchanged(path: string, lastCommit: string): Promise<void>
}

type Content = { readonly content: string | Uint8Array } | { readonly id: string }
type File = Content & { readonly mode: FileMode }
type Entry = Pick<TreeEntry, 'id' | 'type' | 'mode'>

const refuse = (text: string) => new Refusal('bad_request', text)

export async function changesBy(ground: Ground, actions: readonly Action[]): Promise<Change[]> {
  const unknown = actions.find(({ action }) => !Object.hasOwn(APPLY, action))
  if (unknown) throw refuse(`Unknown action '${unknown.action}'`)
  const draft = new Draft(ground)
  const pause = pauses()
  for (const action of actions) {
    await APPLY[action.action as Verb](draft, action)
    await pause()
  }
  return draft.changes()
}

/** A node in the tree of touched paths: a file or folder that the actions have changed. */
class Scope {
  readonly below = new Map<string, Scope>()
  /** Null: the file is deleted. */
  file: File | null | undefined
  /** The number of touched files below this node, and how many of them exist. */
  touched = 0
  present = 0

  at(name: string): Scope {
    let node = this.below.get(name)
    if (!node) this.below.set(name, (node = new Scope()))
    return node
  }
}

/** The files after the actions so far. */
class Draft {
  readonly ground: Ground
  readonly #files = new Map<string, Scope>()
  readonly #top = new Scope()
  readonly #entries = new Map<string, Entry | null>()

  constructor(ground: Ground) {
    this.ground = ground
  }

  put(path: string, file: File | null): void {
    const above: Scope[] = []
    let node = this.#top
    for (const name of path.split('/')) {
      above.push(node)
      node = node.at(name)
    }
    const touched = node.file === undefined ? 1 : 0
    const present = (file ? 1 : 0) - (node.file ? 1 : 0)
    for (const one of above) {
      one.touched += touched
      one.present += present
    }
    node.file = file
    this.#files.set(path, node)
  }

  async fileAt(path: string): Promise<File | null> {
    const file = this.#files.get(path)?.file
    if (file !== undefined) return file
    const entry = await this.#entryAt(path)
    return entry?.type === 'blob' ? { id: entry.id, mode: entry.mode as FileMode } : null
  }

  /** Asserts that the path is valid and unused: neither a file nor a folder exists there, and no parent is a file. */
  async assertFree(path: string): Promise<void> {
    const parts = path.split('/')
    if (!parts.every(isFileName)) throw refuse('Path is not valid')
    let before = this.#root()
    let node: Scope | undefined = this.#top
    for (const name of parts) {
      before = before && (await this.#entryIn(before, name))
      node = node?.below.get(name)
      const file = node?.file
      const isThere = file === undefined ? before !== null && before.type !== 'tree' : file !== null
      if (isThere) throw refuse('A file with this name already exists')
    }
    if (await this.#isFolder(path, node)) throw refuse('A directory with this name already exists')
  }

  async changes(): Promise<Change[]> {
    const changes: Change[] = []
    for (const [path, { file }] of this.#files) {
      if (file) changes.push({ path, ...file })
      // A file that was created and deleted within one request leaves no change.
      else if ((await this.#entryAt(path))?.type === 'blob') changes.push({ path, content: null })
    }
    return changes
  }

  async #isFolder(path: string, node: Scope | undefined): Promise<boolean> {
    if (node && node.present > 0) return true
    if ((await this.#entryAt(path))?.type !== 'tree') return false
    if (!node || node.touched === 0) return true
    // A folder disappears with its last file.
    const all = (await listTree(this.ground.dir, this.ground.base!, path, { recursive: true })) ?? []
    return all.some((entry) => entry.type !== 'tree' && this.#files.get(entry.path)?.file !== null)
  }

  /** The entry before any action. */
  async #entryAt(path: string): Promise<Entry | null> {
    let entry = this.#root()
    for (const name of path.split('/')) entry = entry && (await this.#entryIn(entry, name))
    return entry
  }

  #root(): Entry | null {
    const { base } = this.ground
    return base === null ? null : { id: base, type: 'tree', mode: '040000' }
  }

  /** Caches lookups, because many files share parent folders. */
  async #entryIn(folder: Entry, name: string): Promise<Entry | null> {
    if (folder.type !== 'tree') return null
    const key = `${folder.id}/${name}`
    const known = this.#entries.get(key)
    const entry = known === undefined ? await entryAt(this.ground.dir, folder.id, name) : known
    this.#entries.set(key, entry)
    return entry
  }
}

const APPLY = {
  async create(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    await draft.assertFree(path)
    draft.put(path, { ...contentOf(action), mode: modeOf(action) ?? PLAIN })
  },

  async update(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    const { mode } = await existing(draft, path, action)
    draft.put(path, { ...contentOf(action), mode: modeOf(action) ?? mode })
  },

  async move(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    const previous = pathFrom(action.previous_path)
    if (path !== previous) await draft.assertFree(path)
    const file = await existing(draft, previous, action)
    draft.put(previous, null)
    draft.put(path, { ...(hasContent(action) ? contentOf(action) : file), mode: file.mode })
  },

  async delete(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    await existing(draft, path, action)
    draft.put(path, null)
  },

  async chmod(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    const file = await existing(draft, path, action)
    // Symbolic links cannot be executable.
    if (file.mode !== LINK) draft.put(path, { ...file, mode: modeOf(action) ?? file.mode })
  },

  async create_dir(draft: Draft, action: Action) {
    const path = pathFrom(action.file_path)
    await draft.assertFree(path)
    draft.put(`${path}/.gitkeep`, { content: '', mode: PLAIN })
  },
}

type Verb = keyof typeof APPLY

const [PLAIN, EXECUTABLE, LINK] = ['100644', '100755', '120000'] as const

const modeOf = ({ execute_filemode: may }: Action) => (typeof may === 'boolean' ? (may ? EXECUTABLE : PLAIN) : null)

async function existing(draft: Draft, path: string, { last_commit_id: last }: Action): Promise<File> {
  const file = await draft.fileAt(path)
  if (!file) throw refuse("A file with this name doesn't exist")
  if (last) await draft.ground.assertUnchanged(path, last)
  return file
}

const hasContent = ({ content }: Action) => typeof content === 'string'

function contentOf({ content, encoding }: Action): Content {
  if (typeof content !== 'string') throw refuse('You must provide content')
  return { content: encoding === 'base64' ? Buffer.from(content, 'base64') : content.replaceAll('\r\n', '\n') }
}

const DEEPEST = 255

/** Normalizes a path: removes outer slashes and resolves `a/../b`. */
function pathFrom(given: string | null | undefined): string {
  const parts: string[] = []
  for (const part of (given ?? '').split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) throw refuse('Path cannot include directory traversal')
  }
  if (parts.join('').trim() === '') throw refuse('You must provide a file path')
  const path = parts.join('/')
  if (parts.length > DEEPEST || path.length > LONGEST_PATH) throw refuse('Path is not valid')
  return path
}
