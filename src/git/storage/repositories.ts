/** Bare repositories on disk: made, removed, measured and kept in shape. */
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
 * How a repository is kept, whoever opens it. What a single command needs (protocols, hidden refs, limits) is given to
 * that command instead: a repository made today is still here when its settings have changed.
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

// Harmless slips of old tools, which many long histories carry.
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

/** What `git init` makes, asked for once: a process costs milliseconds. Kept in memory, where nobody tidies up. */
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

/** What is there already stays as it is. */
export async function createRepository(dir: string, { defaultBranch }: { defaultBranch: string }): Promise<void> {
  if (await repositoryExists(dir)) return
  await publishWhole(dir, (draft) => initialise(draft, defaultBranch))
}

/**
 * For a repository that comes with content: whoever fills the draft runs `initialise` first. At the last moment an
 * empty repository makes way; one that has refs is the work of an earlier run and stays.
 */
export async function fillRepository(dir: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (await hasContent(dir)) return
  await publishWhole(dir, async (draft) => {
    await fill(draft)
    if (!(await hasContent(dir))) await removeRepository(dir)
  })
}

/** Fine when it is gone already. */
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

/** The branch HEAD names, born or not; null when it names none. */
export async function headOf(dir: string): Promise<string | null> {
  const head = await readFile(join(dir, 'HEAD'), 'utf8')
  return /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1] ?? null
}

export async function setHead(dir: string, name: string): Promise<void> {
  await despiteDeadLocks(dir, () => git(dir, ['symbolic-ref', 'HEAD', branch(name)]))
}

/** Bytes of all its files. What is removed meanwhile, by housekeeping say, counts nothing. */
export const sizeOf = (dir: string): Promise<number> => sumOf(dir, (one) => (one.isDirectory() ? 0 : one.size))

const MIB = 1024 * 1024
const BLOCK = 512

/** Bytes it takes on disk, folders too, in the grain that statistics have: hundredths of a MiB. */
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

/** For commands that make many refs where nobody looks yet: `packRefs` flushes them as one file. */
export const REFS_FLUSHED_LATER = { 'core.fsync': 'objects,derived-metadata' }

export async function packRefs(dir: string, signal?: AbortSignal): Promise<void> {
  await despiteDeadLocks(dir, () => git(dir, ['pack-refs', '--all'], { deadline: HOUR, signal }))
}

export interface HousekeepOptions {
  readonly signal?: AbortSignal | undefined
  /** How long what nothing points to stays, as git says it; null: for good. */
  readonly prune?: '2.weeks.ago' | '1.hour.ago' | null
}

/**
 * One pack with a bitmap, for quick clones; packed refs; a commit-graph that knows which paths each commit changed.
 * What nothing points to stays for a while: a push under way may be about to. What a pool has is left to the pool,
 * and so is the bitmap. It is git's own `gc`, because that holds off any other: two repacks at once lose objects. Where
 * one is running already, this throws.
 */
export async function housekeep(dir: string, { signal, prune = '2.weeks.ago' }: HousekeepOptions = {}): Promise<void> {
  const patiently = { deadline: 6 * HOUR, signal }
  const hasOwnBitmap = (await poolOf(dir)) === null
  await packRefs(dir, signal)
  await git(dir, ['gc', '--quiet', '--cruft', prune === null ? '--no-prune' : `--prune=${prune}`], {
    ...patiently,
    // Before and after it, in our own way.
    config: { 'repack.writeBitmaps': String(hasOwnBitmap), 'gc.packRefs': 'false', 'gc.writeCommitGraph': 'false' },
  })
  // Of what it has thrown away nothing shall be told from memory, nor from packs that are open still.
  closeReaders(dir)
  forget(dir)
  await git(dir, ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'], patiently)
}

/** Whether clones are told at once what is in it. */
export async function hasBitmap(dir: string): Promise<boolean> {
  return (await readdir(join(dir, 'objects/pack'))).some((name) => name.endsWith('.bitmap'))
}
