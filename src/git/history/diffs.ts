/**
 * The changes between two commits by file, from one process. Limits shorten the answer and protect the memory. A diff
 * that takes too long is returned as far as it got. Names come from lines in which git has quoted every unusual byte,
 * so that no name can look like a line of a patch.
 */
import type { Readable } from 'node:stream'
import { MINUTE } from '../../clock.ts'
import { count, option, rev } from '../process/arguments.ts'
import { GitFailed, gitStream } from '../process/command.ts'
import { findCommit } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import type { QuarantineOptions } from '../objects/objects.ts'
import { pieces } from '../process/streams.ts'
import { textOf, unquote } from '../objects/texts.ts'
import { rootOf } from '../objects/trees.ts'

export interface FileDiff {
  readonly oldPath: string
  readonly newPath: string
  /** Six digits; `0` if there is no file. */
  readonly aMode: string
  readonly bMode: string
  readonly newFile: boolean
  readonly renamedFile: boolean
  readonly deletedFile: boolean
  readonly binary: boolean
  /** From the first `@@` on. Empty for a pure rename or mode change. */
  readonly patch: string
  readonly additions: number
  readonly deletions: number
  /** The patch is omitted because this file alone exceeds its limit. */
  readonly tooLarge: boolean
  /** The patch is omitted because the files so far exceed the total limit. */
  readonly collapsed: boolean
}

export interface Diff {
  readonly files: FileDiff[]
  /** A limit was reached: patches or whole files are omitted. */
  readonly overflow: boolean
}

export interface DiffLimits {
  readonly files: number
  readonly lines: number
  readonly bytes: number
  /** The limit of one file's patch. */
  readonly fileBytes: number
}

const LIST_LIMITS: DiffLimits = { files: 100, lines: 5000, bytes: 500 * 1024, fileBytes: 100 * 1024 }
export const HARD_LIMITS: DiffLimits = { files: 1000, lines: 50_000, bytes: 5000 * 1024, fileBytes: 100 * 1024 }

export interface DiffOptions extends QuarantineOptions {
  /** The number of unchanged lines around each change. */
  readonly context?: number
  readonly renames?: boolean
  readonly limits?: Partial<DiffLimits>
  /** Files beyond the limits are omitted, or included without their patch up to the hard limit of files. */
  readonly beyond?: 'stop' | 'collapse'
  /** Ignores lines that differ only in whitespace, and files without other changes. */
  readonly ignoreSpaces?: boolean
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const DEADLINE_MS = 30_000
/** The maximum output to read, however much of it is omitted. */
const MAX_READ = 256 * 1024 * 1024

/** Compared with the first parent; a root commit with an empty tree. Null if the commit does not exist. */
export async function commitDiff(dir: string, name: string, input: DiffOptions = {}): Promise<Diff | null> {
  const commit = await findCommit(dir, name, { environment: input.environment })
  return commit && diffBetween(dir, commit.parents[0] ?? null, commit.id, input)
}

/** If `from` is null, compares with an empty tree. Null if the commit or tree does not exist. */
export async function diffBetween(
  dir: string,
  from: string | null,
  to: string,
  { context = 3, renames = true, limits, beyond = 'stop', ignoreSpaces = false, environment }: DiffOptions = {},
): Promise<Diff | null> {
  const rootIn = (name: string) => rootOf(dir, name, { environment })
  const [before, after] = await Promise.all([from === null ? EMPTY_TREE : rootIn(from), rootIn(to)])
  if (before === null || after === null) return null
  const look = { context: Math.min(context, 100_000), renames, beyond, ignoreSpaces }
  const request = { before, after, ...look, ...LIST_LIMITS, ...limits }
  const read = () => readDiff(dir, request, { environment })
  const isWhole = ({ isCut }: DiffRead) => !isCut
  return (await (environment ? read() : remembered.recall(dir, JSON.stringify(request), read, isWhole))).diff
}

const RAW_DEADLINE = 10 * MINUTE

const AS_PATCH = ['-r', '--patch', '--full-index', '--find-renames', '--no-ext-diff', '--no-textconv'] as const

/** The whole diff as one patch stream. */
export function rawDiff(dir: string, from: string, to: string): Readable {
  return gitStream(dir, ['diff-tree', ...AS_PATCH, rev(from), rev(to)], { deadline: RAW_DEADLINE })
}

/** What `git apply` (`diff`) or `git am` (`patch`) reads. A merge commit shows its changes to the first parent. */
export function rawCommit(dir: string, sha: string, format: 'diff' | 'patch'): Readable {
  const head = format === 'patch' ? (['--pretty=email', '--stat', '--binary'] as const) : (['--no-commit-id'] as const)
  const args = ['diff-tree', '--root', '--diff-merges=first-parent', ...head, ...AS_PATCH, rev(sha)] as const
  return gitStream(dir, args, { deadline: RAW_DEADLINE })
}

type RequestContext = Required<Omit<DiffOptions, 'limits' | 'environment'>> &
  DiffLimits & { before: string; after: string }

interface DiffRead {
  readonly diff: Diff
  /** Cut by the deadline. Another attempt may return more. */
  readonly isCut: boolean
}

const FILE_BYTES = 500
const remembered = new Memory<DiffRead>('diffs', ({ diff: { files } }) =>
  files.reduce((sum, { oldPath, newPath, patch }) => {
    return sum + 2 * (oldPath.length + newPath.length + patch.length) + FILE_BYTES
  }, 0),
)

async function readDiff(dir: string, request: RequestContext, options: QuarantineOptions): Promise<DiffRead> {
  const stream = gitStream(
    dir,
    [
      ...(['diff-tree', '-r', '--raw', '--patch', '--no-abbrev', '--no-ext-diff', '--no-textconv'] as const),
      ...([request.renames ? '--find-renames' : '--no-renames', option('--unified', count(request.context))] as const),
      ...(request.ignoreSpaces ? (['--ignore-all-space'] as const) : []),
      ...([rev(request.before), rev(request.after)] as const),
    ],
    { ...options, deadline: DEADLINE_MS },
  )
  const collector = new Collector(request, request)
  let isCut = false
  try {
    for await (const lines of pieces(stream, 10)) if (!lines.every((line) => collector.take(line))) break
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'deadline') throw error
    collector.overflow = isCut = true
  }
  return { diff: collector.finish(), isCut }
}

const [PLUS, MINUS, COLON] = Buffer.from('+-:')

interface Draft {
  /** The first line of the patch. */
  readonly title: string
  readonly file: { -readonly [K in keyof FileDiff]: FileDiff[K] }
  hunks: Buffer[]
  bytes: number
}

class Collector {
  overflow = false
  readonly #limits: DiffLimits
  readonly #isStopping: boolean
  readonly #mayBeSilent: boolean
  readonly #silent = new Set<Draft>()
  readonly #drafts: Draft[] = []
  #current = -1
  #isInHunk = false
  #lines = 0
  #bytes = 0
  #read = 0

  constructor(limits: DiffLimits, { beyond, ignoreSpaces }: Pick<RequestContext, 'beyond' | 'ignoreSpaces'>) {
    this.#limits = limits
    this.#isStopping = beyond === 'stop'
    this.#mayBeSilent = ignoreSpaces
  }

  /** Takes the next line. False if no more lines are needed. */
  take(line: Buffer): boolean {
    this.#read += line.length + 1
    if (this.#read > MAX_READ) this.overflow = true
    else if (this.#current < 0 && line[0] === COLON) this.#list(line)
    else if (line.indexOf('diff --git ') === 0) return this.#begin(line)
    else if (this.#current >= 0) this.#add(line)
    return this.#read <= MAX_READ
  }

  finish(): Diff {
    const isToCurrent = this.#mayBeSilent || (this.#isStopping && this.overflow)
    const drafts = isToCurrent ? this.#drafts.slice(0, this.#current + 1) : this.#drafts
    return { files: drafts.filter((draft) => !this.#silent.has(draft)).map(finished), overflow: this.overflow }
  }

  #list(line: Buffer): void {
    for (const draft of draftsFrom(line)) {
      if (this.#drafts.length < (this.#isStopping ? this.#limits.files : HARD_LIMITS.files)) this.#drafts.push(draft)
      else this.overflow = true
    }
  }

  #begin(line: Buffer): boolean {
    if (this.#isStopping && this.#isOver()) return false
    this.#current++
    if (this.#mayBeSilent) this.#skipSilent(line.toString('latin1'))
    this.#isInHunk = false
    const draft = this.#drafts[this.#current]
    if (draft && (this.#current >= this.#limits.files || this.#isOver())) this.#collapse(draft)
    return draft !== undefined
  }

  /** Git prints no patch for files that differ only in whitespace. */
  #skipSilent(line: string): void {
    for (let draft = this.#drafts[this.#current]; draft && draft.title !== line; draft = this.#drafts[this.#current]) {
      this.#silent.add(draft)
      this.#current++
    }
  }

  #add(line: Buffer): void {
    const draft = this.#drafts[this.#current]
    if (!draft) return
    if (line.indexOf('@@ ') === 0) this.#isInHunk = true
    if (!this.#isInHunk) {
      if (line.indexOf('Binary files ') === 0) draft.file.binary = true
      return
    }
    if (line[0] === PLUS) draft.file.additions++
    if (line[0] === MINUS) draft.file.deletions++
    draft.bytes += line.length + 1
    if (draft.bytes > this.#limits.fileBytes) draft.file.tooLarge = true
    if (draft.file.tooLarge || draft.file.collapsed) return void (draft.hunks = [])
    draft.hunks.push(line)
    this.#lines++
    this.#bytes += line.length + 1
    if (this.#isOver()) this.#collapse(draft)
  }

  #isOver(): boolean {
    return this.#lines > this.#limits.lines || this.#bytes > this.#limits.bytes
  }

  #collapse(draft: Draft): void {
    draft.file.collapsed = true
    draft.hunks = []
    this.overflow = true
  }
}

/**
 * `:100644 100644 <id> <id> R099\told\tnew`. A file that became a link or another type counts as removed and added, as
 * in patches.
 */
function draftsFrom(line: Buffer): Draft[] {
  const [facts = '', old = '', other] = line.toString().slice(1).split('\t')
  const [aMode = '', bMode = '', , , status = ''] = facts.split(' ')
  const [oldPath, newPath] = [unquote(old), unquote(other ?? old)]
  const title = `diff --git ${within('a/', old)} ${within('b/', other ?? old)}`
  if (!status.startsWith('T')) return [draft(title, oldPath, newPath, aMode, bMode)]
  return [draft(title, oldPath, oldPath, aMode, NO_MODE), draft(title, newPath, newPath, NO_MODE, bMode)]
}

/** A quoted name stays quoted. */
const within = (side: string, name: string) => (name.startsWith('"') ? `"${side}${name.slice(1)}` : side + name)

const NO_MODE = '000000'

function draft(title: string, oldPath: string, newPath: string, aMode: string, bMode: string): Draft {
  const file = {
    oldPath,
    newPath,
    aMode: aMode === NO_MODE ? '0' : aMode,
    bMode: bMode === NO_MODE ? '0' : bMode,
    newFile: aMode === NO_MODE,
    renamedFile: oldPath !== newPath,
    deletedFile: bMode === NO_MODE,
    binary: false,
    patch: '',
    additions: 0,
    deletions: 0,
    tooLarge: false,
    collapsed: false,
  }
  return { title, file, hunks: [], bytes: 0 }
}

function finished({ file, hunks }: Draft): FileDiff {
  if (!file.binary) return { ...file, patch: hunks.map((line) => `${textOf(line)}\n`).join('') }
  const a = file.newFile ? '/dev/null' : `a/${file.oldPath}`
  const b = file.deletedFile ? '/dev/null' : `b/${file.newPath}`
  return { ...file, patch: `Binary files ${a} and ${b} differ\n` }
}
