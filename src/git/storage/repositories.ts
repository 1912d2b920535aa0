/** Bare repositories on disk: creates, deletes, measures and maintains them. */
import type { Stats } from 'node:fs'
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { HOUR } from '../../clock.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { poolOf } from './alternates.ts'
import { forget } from '../objects/memory.ts'
import { branch, folder } from '../process/arguments.ts'
import { git } from '../process/command.ts'
import { publishWhole, removeWhole } from './drafts.ts'
import { despiteDeadLocks } from '../refs/locks.ts'
import { closeReaders } from '../process/readers.ts'

/**
 * The configuration file of a repository. Settings of single commands (protocols, hidden refs, limits) go to those
 * commands instead, because a repository outlives changes of its settings.
 */
const SETTINGS = `
[core]
	logAllRefUpdates = false
	# By default git flushes packs only; a push is acknowledged when loose objects and refs are on disk too.
	fsync = objects,derived-metadata,reference
[gc]
	# housekeep() does it, when no one is waiting.
	auto = 0
[maintenance]
	auto = false
[receive]
	autogc = false
[transfer]
	fsckObjects = true
[repack]
	writeBitmaps = true
[pack]
	writeReverseIndex = true
`

// Harmless mistakes of old tools, which many long histories contain.
export const FORGIVEN = ['badTimezone', 'missingSpaceBeforeDate', 'zeroPaddedFilemode']
const FORGIVING = ['receive', 'fetch'].flatMap((by) => [
  `[${by} "fsck"]`,
  ...FORGIVEN.map((slip) => `\t${slip} = ignore`),
])

interface Blank {
  readonly folders: readonly string[]
  readonly config: string
}

let blank: Promise<Blank> | undefined

/**
 * The result of `git init`, created once, because a process costs milliseconds. Kept in memory, where no cleanup
 * deletes it.
 */
async function readBlank(): Promise<Blank> {
  const dir = await mkdtemp(join(tmpdir(), 'mortise-git-'))
  try {
    await git(null, ['init', '--bare', '--quiet', '--template=', '--object-format=sha1', folder(dir)])
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    return {
      folders: entries
        .filter((entry) => entry.isDirectory())
        .map((entry) => relative(dir, join(entry.parentPath, entry.name))),
      config: (await readFile(join(dir, 'config'), 'utf8')) + SETTINGS + FORGIVING.join('\n') + '\n',
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Fills an existing empty folder. */
export async function initialise(dir: string, defaultBranch: string): Promise<void> {
  const head = `ref: ${branch(defaultBranch)}\n`
  blank ??= readBlank().catch((error: unknown) => {
    blank = undefined
    throw error
  })
  const { folders, config } = await blank
  for (const path of folders) await mkdir(join(dir, path), { recursive: true })
  await writeFile(join(dir, 'config'), config, { flush: true })
  await writeFile(join(dir, 'HEAD'), head, { flush: true })
}

/** An existing repository stays as it is. */
export async function createRepository(dir: string, { defaultBranch }: { defaultBranch: string }): Promise<void> {
  if (await repositoryExists(dir)) return
  await publishWhole(dir, (draft) => initialise(draft, defaultBranch))
}

/**
 * For a repository with content: `fill` must call `initialise` first. An empty repository is replaced at the last
 * moment. One with refs is the result of an earlier run and stays.
 */
export async function fillRepository(dir: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (await hasContent(dir)) return
  await publishWhole(dir, async (draft) => {
    await fill(draft)
    if (!(await hasContent(dir))) await removeRepository(dir)
  })
}

/** Does nothing if the repository does not exist. */
export async function removeRepository(dir: string): Promise<void> {
  closeReaders(dir)
  await removeWhole(dir)
  forget(dir)
}

export async function repositoryExists(dir: string): Promise<boolean> {
  return (await stat(join(dir, 'HEAD')).catch(nullIfMissing)) !== null
}

export async function hasContent(dir: string): Promise<boolean> {
  return (await repositoryExists(dir)) && !(await isEmpty(dir))
}

/** Without any ref, hidden ones included. */
export async function isEmpty(dir: string): Promise<boolean> {
  return (await git(dir, ['for-each-ref', '--count=1', '--format=%(refname)'])) === ''
}

/** The branch that HEAD names, even if it does not exist yet. Null if HEAD names none. */
export async function headOf(dir: string): Promise<string | null> {
  const head = await readFile(join(dir, 'HEAD'), 'utf8')
  return /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1] ?? null
}

export async function setHead(dir: string, name: string): Promise<void> {
  await despiteDeadLocks(dir, () => git(dir, ['symbolic-ref', 'HEAD', branch(name)]))
}

/** The size of all files in bytes. Files that are deleted meanwhile, for example by housekeeping, do not count. */
export const sizeOf = (dir: string): Promise<number> => sumOf(dir, (one) => (one.isDirectory() ? 0 : one.size))

const MIB = 1024 * 1024
const BLOCK = 512

/** The disk usage in bytes, folders included, rounded to the unit of the statistics: hundredths of a MiB. */
export async function diskUse(dir: string): Promise<number> {
  const used = await sumOf(dir, ({ blocks }) => blocks * BLOCK)
  return Math.floor((Math.round((used / MIB) * 100) / 100) * MIB)
}

async function sumOf(path: string, measure: (one: Stats) => number): Promise<number> {
  const one = await lstat(path).catch(nullIfMissing)
  if (!one?.isDirectory()) return one ? measure(one) : 0
  const names = (await readdir(path).catch(nullIfMissing)) ?? []
  const inside = await Promise.all(names.map((name) => sumOf(join(path, name), measure)))
  return inside.reduce((sum, size) => sum + size, measure(one))
}

/** For commands that create many refs in a repository that is not visible yet: `packRefs` flushes them as one file. */
export const REFS_FLUSHED_LATER = { 'core.fsync': 'objects,derived-metadata' }

export async function packRefs(dir: string, signal?: AbortSignal): Promise<void> {
  await despiteDeadLocks(dir, () => git(dir, ['pack-refs', '--all'], { deadline: HOUR, signal }))
}

export interface HousekeepOptions {
  readonly signal?: AbortSignal | undefined
  /** How long unreachable objects stay, in git's notation. Null: for good. */
  readonly prune?: '2.weeks.ago' | '1.hour.ago' | null
}

/**
 * Runs git's housekeeping: one pack with a bitmap for fast clones, packed refs, and a commit-graph with changed paths.
 * Unreachable objects stay for a while, because a running push may be about to reference them. Objects and the bitmap
 * of a pool stay in the pool. Uses `git gc`, because it excludes concurrent runs: two repacks at once lose objects.
 * Throws if another run is active.
 */
export async function housekeep(dir: string, { signal, prune = '2.weeks.ago' }: HousekeepOptions = {}): Promise<void> {
  const patiently = { deadline: 6 * HOUR, signal }
  const hasOwnBitmap = (await poolOf(dir)) === null
  await packRefs(dir, signal)
  await git(dir, ['gc', '--quiet', '--cruft', prune === null ? '--no-prune' : `--prune=${prune}`], {
    ...patiently,
    // This code does these steps itself, before and after.
    config: { 'repack.writeBitmaps': String(hasOwnBitmap), 'gc.packRefs': 'false', 'gc.writeCommitGraph': 'false' },
  })
  // Deleted objects must not be served from the cache, nor from packs that are still open.
  closeReaders(dir)
  forget(dir)
  await git(dir, ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], patiently)
}

/** Whether a bitmap tells clones at once which objects they need. */
export async function hasBitmap(dir: string): Promise<boolean> {
  return (await readdir(join(dir, 'objects/pack'))).some((name) => name.endsWith('.bitmap'))
}
