/**
 * Received objects that are not part of the repository yet. They are in a separate folder inside it, which only
 * commands with the given environment see, and which is deleted unless the push is accepted. A killed process leaves a
 * folder that `isQuarantine` recognizes and git ignores.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { HOUR, MINUTE } from '../../clock.ts'
import { Lru } from '../../lib/async/lru.ts'
import { hasCode, isDiskFull } from '../../lib/files/system-errors.ts'
import { git, GitFailed, LONG_LISTING, type GitOptions } from '../process/command.ts'
import { flushFile, flushFolder } from '../storage/drafts.ts'
import { withheldIds } from '../objects/withheld.ts'
import { indexLast, offsetsIn } from '../objects/pack-index.ts'
import { checkPack, type CheckedPack } from './checked-pack.ts'
import { LARGEST_PACK } from './pack-entries.ts'
import { openSmallPack, SmallPack } from './small-pack.ts'
import { ALL_BUT_UNDO } from '../refs/undo-refs.ts'

/** Git's own prefix for such folders, so that its `prune` deletes them, too. */
const PREFIX = 'tmp_objdir-'

/** By the name of a folder in `objects`. */
export const isQuarantine = (name: string): boolean => name.startsWith(PREFIX)

/** The pack is broken, or contains objects that this repository does not accept. */
export class BadPack extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'BadPack'
  }
}

export interface ReceiveLimits {
  /** Milliseconds for receiving and indexing a pack. */
  readonly deadline?: number
  /** The memory limit of git for one object. A few bytes of a pack can request any amount. */
  readonly objectBytes?: number
  /** The pack is known to be short: flushing it blocks a thread only for a moment. */
  readonly isSmall?: boolean
}

export interface Quarantine extends AsyncDisposable {
  /** For commands that must see the objects in quarantine. */
  readonly environment: Readonly<Record<string, string>>
  /** Stores a pack. Throws BadPack, or the error of its stream. */
  receive(pack: Readable, options: { signal?: AbortSignal | undefined; onStderr?(text: string): void }): Promise<void>
  /** The received pack if it is small. Null if git must read the objects. */
  pack(): Promise<SmallPack | null>
  /** Whether all objects that these need are in the quarantine, or reachable in the repository. */
  isComplete(ids: readonly string[]): Promise<boolean>
  /** Moves the objects into the repository, durably. */
  accept(): Promise<void>
}

export async function openQuarantine(dir: string, limits: ReceiveLimits = {}): Promise<Quarantine> {
  const { deadline = 6 * HOUR, objectBytes = 512 * 1024 * 1024, isSmall = false } = limits
  const path = join(dir, 'objects', `${PREFIX}incoming-${randomUUID()}`)
  // One folder after the other: a repository that was deleted meanwhile must not reappear as an empty folder.
  await mkdir(path)
  await mkdir(join(path, 'pack'))
  const environment = {
    GIT_OBJECT_DIRECTORY: path,
    // Quoted, because a colon in the path would separate two paths.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(dir, 'objects')),
    // With this variable, git moves no ref to an object that may be deleted.
    GIT_QUARANTINE_PATH: path,
  }
  const bounded = { ...environment, GIT_ALLOC_LIMIT: String(objectBytes) }
  let isStrict = false
  let isOver = false
  let files: readonly string[] = []
  let flushed: Promise<unknown> = Promise.resolve()
  let small: Promise<SmallPack | null> | undefined
  const pack = () => (small ??= openSmallPack(path))

  async function store({ name, pack, index }: CheckedPack): Promise<void> {
    const file = join(path, 'pack', name)
    const mode = { flag: 'wx', mode: 0o444 }
    await Promise.all([writeFile(`${file}.pack`, pack, mode), writeFile(`${file}.idx`, index, mode)])
    small = Promise.resolve(new SmallPack(pack, index))
  }

  return {
    environment,
    pack,
    async receive(pack, options) {
      const checks = await checksOf(dir)
      isStrict = checks.length > 0
      const start = isSmall && isStrict ? await startOf(pack) : null
      const checked = start?.isWhole ? await checkPack(dir, start.bytes).catch(nullIfGitFailed) : null
      options.signal?.throwIfAborted()
      if (checked) await store(checked)
      else {
        const config = { ...INDEXING, 'core.fsync': isSmall ? 'none' : 'objects,derived-metadata' }
        const input = start ? start.all() : pack
        await indexPack(dir, checks, { ...options, config, input, environment: bounded, deadline })
      }
      files = await packFiles(join(path, 'pack'))
      // Flushes while the push is checked. A failure is thrown when the push is accepted, if it is.
      if (isSmall) flushed = Promise.all(files.map((name) => flushFile(join(path, 'pack', name))))
      flushed.catch(() => {})
    },
    async isComplete(ids) {
      if (isStrict && (await hasAll(await pack(), join(path, 'pack'), ids))) return true
      const options = { environment: bounded, deadline: HOUR }
      return (await isComplete(dir, ids, options)) && bringsWithheld(dir, path, ids, options)
    },
    async accept() {
      await flushed
      const [from, to] = [join(path, 'pack'), join(dir, 'objects/pack')]
      for (const name of indexLast(files)) await rename(join(from, name), join(to, name))
      ;[isOver] = await Promise.all([removeEmpty(path), files.length > 0 && flushFolder(to)])
    },
    async [Symbol.asyncDispose]() {
      if (!isOver) await rm(path, { recursive: true, force: true })
    },
  }
}

/** In a damaged repository, index-pack may still do what a reader of objects cannot. */
function nullIfGitFailed(error: unknown): null {
  if (error instanceof GitFailed) return null
  throw error
}

/** A slower client is left to index-pack, which has a deadline. */
const PROMPT_MS = 10_000

interface Start {
  readonly bytes: Buffer
  /** Whether there is no more. */
  readonly isWhole: boolean
  /** Everything from the start. */
  all(): Readable
}

/** Reads no more of a stream than a pack that is checked in process may have. */
async function startOf(stream: Readable): Promise<Start> {
  const chunks: Buffer[] = []
  const rest = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let size = 0
  let isWhole = false
  const end = performance.now() + PROMPT_MS
  while (!isWhole && size <= LARGEST_PACK && performance.now() < end) {
    const { done, value } = await rest.next()
    if (done) isWhole = true
    else size += chunks[chunks.push(value) - 1]!.length
  }
  return {
    bytes: Buffer.concat(chunks),
    isWhole,
    all: () =>
      Readable.from(
        (async function* () {
          yield* chunks
          if (!isWhole) yield* { [Symbol.asyncIterator]: () => rest }
        })(),
      ),
  }
}

const INDEXING = {
  // Larger files are streamed and never held in memory.
  'core.bigFileThreshold': '32m',
  // Each thread may hold an object, its delta base and the delta.
  'pack.threads': '2',
  // Housekeeping will combine the packs. Until then, the reverse index is one more file to flush.
  'pack.writeReverseIndex': 'false',
}

async function indexPack(dir: string, checks: readonly '--strict'[], options: GitOptions): Promise<void> {
  const flags = ['--stdin', '--fix-thin', '--show-resolving-progress', ...checks] as const
  try {
    await git(dir, ['index-pack', ...flags], options)
  } catch (error) {
    throw error instanceof GitFailed && !isDiskFull(error) ? new BadPack(meaningOf(error)) : error
  }
}

const meaningOf = ({ reason }: GitFailed) => (reason === 'deadline' ? 'index-pack took too long' : 'index-pack failed')

type Checks = Promise<'--strict'[]>

/** The settings stay the same while the file does not change. The cache saves a process for every push. */
const known = new Lru<{ readonly state: string; readonly checks: Checks }>('settings of repositories', () => 1000)
/** By the text of the file, which is the same in most repositories. */
const ofTexts = new Lru<Checks>('texts of settings', (_, text) => 1000 + 2 * text.length)
const LONGEST_SETTINGS = 4096

/** The configuration of the repository decides how strictly objects are checked, as with git's receive-pack. */
async function checksOf(dir: string): Checks {
  const { ino, size, mtimeNs } = await stat(join(dir, 'config'), { bigint: true })
  const state = [ino, size, mtimeNs].join()
  const before = known.get(dir)
  if (before?.state === state) return before.checks
  const checks = checksIn(dir)
  known.set(dir, { state, checks })
  checks.catch(() => known.delete(dir))
  return checks
}

async function checksIn(dir: string): Checks {
  const text = await readFile(join(dir, 'config'), 'utf8')
  // Then other files have settings, too.
  const isAlone = !/include|worktree/i.test(text)
  const before = isAlone ? ofTexts.get(text) : undefined
  if (before) return before
  const checks = readChecks(dir)
  if (!isAlone || text.length > LONGEST_SETTINGS) return checks
  ofTexts.set(text, checks)
  checks.catch(() => ofTexts.delete(text))
  return checks
}

async function readChecks(dir: string): Checks {
  const listing = await git(dir, ['config', '--get-regexp', '^(receive\\.fsck|transfer\\.fsckobjects$)'], {
    answers: [1],
    deadline: MINUTE,
  })
  const settings = new Map(listing.split('\n').map((line) => line.split(' ', 2) as [string, string]))
  const isOn = settings.get('receive.fsckobjects') ?? settings.get('transfer.fsckobjects') ?? 'true'
  if (isOn === 'false') return []
  const slips = [...settings].flatMap(([key, level]) => {
    const slip = /^receive\.fsck\.([a-z0-9]+)$/.exec(key)?.[1]
    return slip && /^(error|warn|ignore)$/.test(level) ? [`${slip}=${level}`] : []
  })
  // Only letters, digits and known characters, so the value is still one option.
  return [(slips.length > 0 ? `--strict=${slips.join(',')}` : '--strict') as '--strict']
}

const MAX_INDEX = 1024 * 1024

/**
 * Whether these objects are in a small pack. The strict index has checked that all objects that they reference exist. A
 * repository keeps all objects that its objects reference. So no history walk is needed.
 */
async function hasAll(small: SmallPack | null, packs: string, ids: readonly string[]): Promise<boolean> {
  if (small) return ids.every((id) => small.has(id))
  const names = (await readdir(packs)).filter((name) => name.endsWith('.idx'))
  const file = names.length === 1 ? join(packs, names[0]!) : null
  if (file === null || (await stat(file)).size > MAX_INDEX) return false
  const known = offsetsIn(await readFile(file))
  return ids.every((id) => known.has(id))
}

async function isComplete(
  dir: string,
  ids: readonly string[],
  options: { environment: Record<string, string>; deadline: number },
): Promise<boolean> {
  try {
    // `--stdin` must come first, because `--not` applies to what follows it.
    await git(dir, ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all'], {
      ...options,
      input: `${ids.join('\n')}\n`,
    })
    return true
  } catch (error) {
    if (error instanceof GitFailed && error.reason === 'exit') return false
    throw error
  }
}

/** A withheld object counts as missing: a push that references it must contain it. */
async function bringsWithheld(
  dir: string,
  path: string,
  ids: readonly string[],
  options: { environment: Record<string, string>; deadline: number },
): Promise<boolean> {
  const isWithheld = await withheldIds(dir)
  if (!isWithheld) return true
  const listed = await git(dir, ['rev-list', '--objects', '--no-object-names', '--stdin', '--not', ...ALL_BUT_UNDO], {
    ...options,
    input: `${ids.join('\n')}\n`,
    maxOutput: LONG_LISTING,
  })
  const needed = listed.split('\n').filter(isWithheld)
  const brought = await git(dir, ['cat-file', '--batch-check=%(objecttype)', '--buffer'], {
    environment: { GIT_OBJECT_DIRECTORY: path },
    input: needed.map((id) => `${id}\n`).join(''),
    maxOutput: LONG_LISTING,
  })
  return !brought.includes('missing')
}

/** Deletes the folder at once, because the client is still waiting. False if it is not empty. */
async function removeEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(join(path, 'pack'))
    await rmdir(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY')) return false
    throw error
  }
}

/** The empty pack of a push that only references existing objects. */
const EMPTY_PACK = 'pack-029d08823bd8a8eab510ad6ac75c823cfd3ed31e'

async function packFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => /^pack-[0-9a-f]{40}\./.test(name) && !name.startsWith(EMPTY_PACK))
}
