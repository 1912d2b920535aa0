/**
 * Finds the files of a build folder that an artifact or a cache names, and adds them to an archive. Never follows a
 * link out of the folder.
 */
import { constants } from 'node:fs'
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join, posix, relative } from 'node:path'
import { matchesPart } from '../../lib/text/globs.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import type { ZipInput } from '../../lib/zip/writer.ts'
import { BadGlob, compileGlob, matchesGlob, uncounted, type GlobParts } from './globs.ts'

export interface FileSelection {
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly untracked: boolean
}

export interface BuildFolder {
  /** The build folder. */
  readonly root: string
  /** The same folder as the scripts see it. */
  readonly seen: string
  /** Files that git checked out. */
  readonly tracked: ReadonlySet<string>
  readonly warn: (text: string) => Promise<void>
  readonly say: (text: string) => Promise<void>
}

const MOST_FILES = 500_000

export class TooManyFiles extends Error {
  override name = 'TooManyFiles'
}

/** Paths from the root, in order, with folders. */
export async function collectFiles(
  buildFolder: BuildFolder,
  { paths, exclude, untracked }: FileSelection,
): Promise<string[]> {
  const excluded = (await compiled(buildFolder, exclude)).map(({ glob }) => glob)
  const found = new Set<string>()
  const take = (path: string): boolean => {
    if (excluded.some((glob) => matchesGlob(glob, path))) return false
    found.add(path)
    if (found.size > MOST_FILES) throw new TooManyFiles(`more than ${MOST_FILES} files`)
    return true
  }
  for (const { path, glob } of await compiled(buildFolder, paths)) {
    // Files that another path has already found count here, too.
    const matched = new Set<string>()
    for (const parts of glob) await expand(buildFolder.root, parts, (file) => void (take(file) && matched.add(file)))
    if (matched.size > 0)
      await buildFolder.say(`${path}: found ${matched.size} matching artifact files and directories`)
    else {
      const hint = `Ensure that the artifact path is relative to the working directory (${buildFolder.seen})`
      await buildFolder.warn(`${path}: no matching files. ${hint}`)
    }
  }
  if (untracked) {
    let count = 0
    for await (const { path, isFolder } of below(buildFolder.root, ''))
      if (!isFolder && !buildFolder.tracked.has(path) && !path.startsWith('.git/') && take(path)) count++
    await buildFolder.say(`untracked: found ${count} files`)
  }
  return [...found].toSorted()
}

async function compiled(
  buildFolder: BuildFolder,
  paths: readonly string[],
): Promise<{ path: string; glob: GlobParts[] }[]> {
  const globs: { path: string; glob: GlobParts[] }[] = []
  for (const path of paths) {
    const normal = posix.normalize(isAbsolute(path) ? relative(buildFolder.seen, path) || '.' : path)
    if (normal === '..' || normal.startsWith('../') || path.includes('\0')) {
      await buildFolder.warn(`${path}: path is not a subpath of project directory: ${buildFolder.seen}`)
      continue
    }
    try {
      globs.push({ path, glob: compileGlob(normal === './' || normal === '.' ? '' : normal) })
    } catch (error) {
      if (!(error instanceof BadGlob)) throw error
      await buildFolder.warn(`${path.slice(0, 200)}: ${error.message}`)
    }
  }
  return globs
}

/** Everything that a pattern matches, and all files below. */
async function expand(root: string, parts: GlobParts, take: (path: string) => void): Promise<void> {
  const seen = new Set<string>()
  const request = async (folder: string, n: number): Promise<void> => {
    const key = `${n}\0${folder}`
    if (seen.has(key)) return
    seen.add(key)
    const part = parts[n]
    if (!part) return takeAll(root, folder, take)
    if (part.kind === 'text') {
      const path = posix.join(folder, part.text)
      if (await isInside(root, path, n < parts.length - 1)) await request(path, n + 1)
      return
    }
    if (part.kind === 'any') await request(folder, n + 1)
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(noFolder)
    for (const entry of entries) {
      if (part.kind !== 'any' && !matchesPart(part, entry.name, uncounted)) continue
      const path = posix.join(folder, entry.name)
      if (part.kind === 'any') {
        if (entry.isDirectory()) await request(path, n)
      } else if (n === parts.length - 1 || entry.isDirectory()) await request(path, n + 1)
    }
  }
  await request('', 0)
}

const noFolder = (error: unknown): [] => {
  nullIfMissing(error)
  return []
}

async function takeAll(root: string, path: string, take: (path: string) => void): Promise<void> {
  if (path !== '') take(path)
  const found = await lstat(join(root, path)).catch(nullIfMissing)
  if (!found?.isDirectory()) return
  for await (const inner of below(root, path)) take(inner.path)
}

async function* below(root: string, folder: string): AsyncGenerator<{ path: string; isFolder: boolean }> {
  const open = [folder]
  while (open.length > 0) {
    const current = open.pop()!
    const entries = await readdir(join(root, current), { withFileTypes: true }).catch(noFolder)
    for (const entry of entries) {
      const path = posix.join(current, entry.name)
      yield { path, isFolder: entry.isDirectory() }
      if (entry.isDirectory()) open.push(path)
    }
  }
}

/** A literal path may contain a link, as long as the link leads to a folder inside the build folder. */
async function isInside(root: string, path: string, mustBeFolder: boolean): Promise<boolean> {
  const found = await lstat(join(root, path)).catch(nullIfMissing)
  if (!found || !mustBeFolder || found.isDirectory()) return found !== null
  if (!found.isSymbolicLink()) return false
  const [real, realRoot] = await Promise.all([realpath(join(root, path)).catch(nullIfMissing), realpath(root)])
  return real !== null && real.startsWith(`${realRoot}/`)
}

/** Archives files as files and links as links. Skips files that have disappeared, and special files. */
export async function* zipInputs(root: string, paths: Iterable<string>): AsyncGenerator<ZipInput> {
  for (const path of paths) {
    const file = join(root, path)
    const found = await lstat(file).catch(nullIfMissing)
    if (!found) continue
    const shared = { mode: found.mode, mtime: found.mtime }
    if (found.isDirectory()) yield { ...shared, name: `${path}/`, size: 0, content: nothing }
    else if (found.isSymbolicLink()) {
      const target = Buffer.from(await readlink(file))
      yield { ...shared, name: path, size: target.length, content: () => of(target) }
    } else if (found.isFile()) yield { ...shared, name: path, size: found.size, content: () => contentOf(file) }
  }
}

async function* nothing(): AsyncGenerator<never> {}

async function* of(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export async function* contentOf(file: string): AsyncGenerator<Buffer> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  yield* handle.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>
}
