/** Streams the files of a commit as one archive. */
import { access, constants, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { excluding, including, prefix as folderPrefix, rev, safely } from '../process/arguments.ts'
import { gitStream } from '../process/command.ts'
import { resolveCommit } from './commits.ts'
import { entryAt, listTree, partsOf } from './trees.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'

export interface ArchiveOptions {
  readonly format: ArchiveFormat
  /** The folder inside the archive. */
  readonly prefix: string
  /** Only this file or folder, at its own path. */
  readonly path?: string
  /** Excludes these files and folders. They need not exist. */
  readonly exclude?: readonly string[]
  readonly signal?: AbortSignal
}

/** Starts writing, optionally with content in place of Git LFS pointers. */
export type StartArchive = (largeFiles?: LargeFiles | null) => Readable

/**
 * LFS content by the path of its pointer. The files are written to a folder when the first byte is read, and deleted
 * after the last.
 */
export interface LargeFiles {
  readonly folder: string
  layOut(): Promise<void>
}

/** A pointer without a file stays as it is. Git quotes the path. */
const SMUDGE = 'if [ -f "$LARGE_FILES"/%f ]; then cat >/dev/null; cat "$LARGE_FILES"/%f; else cat; fi'

const FORMATS = {
  tar: '--format=tar',
  'tar.gz': '--format=tar.gz',
  'tar.bz2': '--format=tar.bz2',
  zip: '--format=zip',
} as const

/** Null if the commit or path does not exist, or nothing is left. Destroy a stream that is not read to its end. */
export async function prepareArchive(dir: string, name: string, input: ArchiveOptions): Promise<StartArchive | null> {
  const { format, prefix, path = '', exclude = [], signal } = input
  const top = folderPrefix(prefix)
  const commit = await resolveCommit(dir, name)
  const entry = commit === null || path === '' ? null : await entryAt(dir, commit, path)
  // A name that is not UTF-8 can be displayed, but not passed to git.
  if (commit === null || (path !== '' && !entry) || entry?.path.includes('\uFFFD')) return null
  for (const one of exclude) if (await isAll(dir, commit, partsOf(one))) return null
  const left = exclude.map((one) => safely(() => excluding(partsOf(one).join('/')))).filter((one) => one !== null)
  const paths = [...(entry ? [including(entry.path)] : []), ...left]
  const start = (folder?: string) =>
    gitStream(dir, ['archive', FORMATS[format], '--prefix', top, rev(commit), '--', ...paths], {
      environment: { GIT_LITERAL_PATHSPECS: '0', ...(folder !== undefined && { LARGE_FILES: folder }) },
      // Git does not support bzip2 itself, but runs a configured program. That program belongs to git's process group
      // and ends with it.
      config: { 'tar.tar.bz2.command': 'bzip2 -c', ...(folder !== undefined && { 'filter.lfs.smudge': SMUDGE }) },
      deadline: HOUR,
      signal,
    })
  return (largeFiles) =>
    largeFiles ? Readable.from(withLargeFiles(largeFiles, start), { objectMode: false }) : start()
}

/** The same, already started. */
export async function archive(dir: string, name: string, input: ArchiveOptions): Promise<Readable | null> {
  return (await prepareArchive(dir, name, input))?.() ?? null
}

async function* withLargeFiles(
  { folder, layOut }: LargeFiles,
  start: (folder: string) => Readable,
): AsyncGenerator<Buffer> {
  try {
    await layOut()
    yield* start(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Git fails if an exclusion leaves nothing: a folder without siblings all the way up. */
async function isAll(dir: string, commit: string, parts: readonly string[]): Promise<boolean> {
  for (const [depth, part] of parts.entries()) {
    const entries = (await listTree(dir, commit, parts.slice(0, depth).join('/'))) ?? []
    if (entries.length !== 1 || entries[0]!.name !== part) return false
  }
  return parts.length > 0
}

/** Git supports all formats but bzip2, which needs a program that may be missing. */
export async function canArchive(format: ArchiveFormat): Promise<boolean> {
  if (format !== 'tar.bz2') return true
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, 'bzip2'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
