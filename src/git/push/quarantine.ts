/**
 * Objects received, and not yet part of the repository: they stand in a folder of their own inside it, where only who
 * was given the environment sees them, and vanish with it unless they are accepted. Whoever is killed midway leaves a
 * folder that `isQuarantine` knows, and that git itself ignores.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { HOUR, MINUTE } from '../../clock.ts'
import { hasCode, isDiskFull } from '../../lib/files/system-errors.ts'
import { git, GitFailed, LONG_LISTING, type GitOptions } from '../process/command.ts'
import { flushFile, flushFolder } from '../storage/drafts.ts'
import { withheldIds } from '../objects/withheld.ts'
import { indexLast, offsetsIn } from '../objects/pack-index.ts'
import { openSmallPack, type SmallPack } from './small-pack.ts'

/** git's own prefix for such folders: its `prune` removes them too. */
const PREFIX = 'tmp_objdir-'

/** By the name of a folder in `objects`. */
export const isQuarantine = (name: string): boolean => name.startsWith(PREFIX)

/** The pack is broken, or holds what this repository does not take. */
export class BadPack extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'BadPack'
  }
}

export interface ReceiveLimits {
  /** Milliseconds for a pack to come and be understood. */
  readonly deadline?: number
  /** The most git may hold of one object; a few bytes of pack can ask for any amount. */
  readonly objectBytes?: number
  /** It is known to be short: flushing it takes a thread of ours for a moment, and not for minutes. */
  readonly isSmall?: boolean
}

export interface Quarantine extends AsyncDisposable {
  /** For commands that are to see what is in it. */
  readonly environment: Readonly<Record<string, string>>
  /** Stores a pack; throws BadPack, or what its stream failed by. */
  receive(pack: Readable, options: { signal?: AbortSignal | undefined; onStderr?(text: string): void }): Promise<void>
  /** What was received, if it is little; null where git must be asked. */
  pack(): Promise<SmallPack | null>
  /** Whether all that these objects need is here, or in the repository and reachable there. */
  isComplete(ids: readonly string[]): Promise<boolean>
  /** Makes it part of the repository, durably. */
  accept(): Promise<void>
}

export async function openQuarantine(dir: string, limits: ReceiveLimits = {}): Promise<Quarantine> {
  const { deadline = 6 * HOUR, objectBytes = 512 * 1024 * 1024, isSmall = false } = limits
  const path = join(dir, 'objects', `${PREFIX}incoming-${randomUUID()}`)
  // One after the other: a repository that was removed meanwhile must not come back as an empty folder.
  await mkdir(path)
  await mkdir(join(path, 'pack'))
  const environment = {
    GIT_OBJECT_DIRECTORY: path,
    // Quoted, or a colon in the path would make it two.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(dir, 'objects')),
    // With it git moves no ref to an object that may vanish.
    GIT_QUARANTINE_PATH: path,
  }
  const bounded = { ...environment, GIT_ALLOC_LIMIT: String(objectBytes) }
  let isStrict = false
  let isOver = false
  let files: readonly string[] = []
  let flushed: Promise<unknown> = Promise.resolve()
  let small: Promise<SmallPack | null> | undefined
  const pack = () => (small ??= openSmallPack(path))
  return {
    environment,
    pack,
    async receive(pack, options) {
      const checks = await checksOf(dir)
      isStrict = checks.length > 0
      const config = { ...INDEXING, 'core.fsync': isSmall ? 'none' : 'objects,derived-metadata' }
      await indexPack(dir, checks, { ...options, config, input: pack, environment: bounded, deadline })
      files = await packFiles(join(path, 'pack'))
      // While the push is judged; that it failed is heard of when the push is accepted, if it is.
      if (isSmall) flushed = Promise.all(files.map((name) => flushFile(join(path, 'pack', name))))
      flushed.catch(() => {})
    },
    async isComplete(ids) {
      if (isStrict && (await holdsAll(await pack(), join(path, 'pack'), ids))) return true
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

const INDEXING = {
  // Larger files pass through, and are never held whole.
  'core.bigFileThreshold': '32m',
  // Each may hold an object, what it is made from and what it is made with.
  'pack.threads': '2',
  // Housekeeping will make one pack of many; until then it is a file more to flush.
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

/** As long as the file is the same, so is what it says: a process less for every push. */
const known = new Map<string, { readonly state: string; readonly checks: Promise<'--strict'[]> }>()
const MAX_KNOWN = 1000

/** How strictly objects are checked is the repository's own affair, as it is with git's receive-pack. */
async function checksOf(dir: string): Promise<'--strict'[]> {
  const { ino, size, mtimeNs } = await stat(join(dir, 'config'), { bigint: true })
  const state = [ino, size, mtimeNs].join()
  const before = known.get(dir)
  if (before?.state === state) return before.checks
  const checks = readChecks(dir)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(dir, { state, checks })
  checks.catch(() => known.delete(dir))
  return checks
}

async function readChecks(dir: string): Promise<'--strict'[]> {
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
  // Letters, digits and signs of ours: still the one option.
  return [(slips.length > 0 ? `--strict=${slips.join(',')}` : '--strict') as '--strict']
}

const MAX_INDEX = 1024 * 1024

/**
 * Whether these objects came with a small pack. A strict index has seen that whatever its objects name is there; and a
 * repository loses no object while it has one that names it. So no history needs to be walked.
 */
async function holdsAll(small: SmallPack | null, packs: string, ids: readonly string[]): Promise<boolean> {
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
    // `--stdin` first: `--not` is for what follows it.
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

/** What is withheld is as good as missing: who refers to it must have it, and bring it. */
async function bringsWithheld(
  dir: string,
  path: string,
  ids: readonly string[],
  options: { environment: Record<string, string>; deadline: number },
): Promise<boolean> {
  const isWithheld = await withheldIds(dir)
  if (!isWithheld) return true
  const listed = await git(dir, ['rev-list', '--objects', '--no-object-names', '--stdin', '--not', '--all'], {
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

/** At once, as whoever pushed is still waiting; false where something is left in it. */
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

/** The pack without objects, of a push that only names what is here already. */
const EMPTY_PACK = 'pack-029d08823bd8a8eab510ad6ac75c823cfd3ed31e'

async function packFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => /^pack-[0-9a-f]{40}\./.test(name) && !name.startsWith(EMPTY_PACK))
}
