/** Unpacks archives of other jobs into a build folder. Writes nothing outside the folder, and limits the total size. */
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, realpath, rm, symlink, utimes } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { BadZip, type ZipEntry } from '../../lib/zip/reader.ts'
import { openZipFile, type ZipFile } from '../../lib/zip/files.ts'

export interface ExtractLimits {
  readonly entries: number
  readonly bytes: number
}

const DEFAULT_LIMITS: ExtractLimits = { entries: 500_000, bytes: 20 * 1024 ** 3 }
const LONGEST_LINK = 4096

export async function extractZip(
  file: string,
  root: string,
  { limits = {}, signal }: { limits?: Partial<ExtractLimits>; signal?: AbortSignal } = {},
): Promise<number> {
  const most = { ...DEFAULT_LIMITS, ...limits }
  await using zip = await openZipFile(file, { entries: most.entries })
  const realRoot = await realpath(root)
  const links: ZipEntry[] = []
  let [bytes, count] = [0, 0]
  for await (const entry of zip.entries()) {
    signal?.throwIfAborted()
    bytes += entry.size
    if (bytes > most.bytes) throw new BadZip('is too large when unpacked')
    if (!entry.path) throw new BadZip(`names a path outside: ${JSON.stringify(entry.name.slice(0, 200))}`)
    if (entry.type === 'other') throw new BadZip(`has an entry that is no file: ${JSON.stringify(entry.name)}`)
    count++
    // Links are created last, so that no entry is written through a link of the same archive.
    if (entry.type === 'link') links.push(entry)
    else if (entry.type === 'folder') await folderAt(realRoot, join(realRoot, ...entry.path))
    else await writeEntry(zip, entry, realRoot, entry.path)
  }
  for (const entry of links) await writeLink(zip, entry, realRoot, entry.path!)
  for (const entry of links) await assertInside(realRoot, join(realRoot, ...entry.path!))
  return count
}

/** A chain of links may lead outside although no single link does. */
async function assertInside(root: string, link: string): Promise<void> {
  const real = await realpath(link).catch(nullIfMissing)
  if (real === null || isBelow(root, real)) return
  await rm(link)
  throw new BadZip('has a link that leads out')
}

async function writeEntry(zip: ZipFile, entry: ZipEntry, root: string, path: readonly string[]): Promise<void> {
  const target = join(root, ...path)
  await folderAt(root, dirname(target))
  await clearPath(target)
  const mode = entry.mode || 0o644
  {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    await using handle = await open(target, flags, mode)
    for await (const chunk of zip.read(entry)) await handle.writeFile(chunk)
  }
  await chmod(target, mode)
  await utimes(target, entry.mtime, entry.mtime)
}

async function writeLink(zip: ZipFile, entry: ZipEntry, root: string, path: readonly string[]): Promise<void> {
  if (entry.size > LONGEST_LINK) throw new BadZip('has too long a link')
  const target = (await buffer(Readable.from(zip.read(entry)))).toString('utf8')
  const linkPath = join(root, ...path)
  if (target.includes('\0') || !isBelow(root, resolve(dirname(linkPath), target)))
    throw new BadZip(`has a link that leads out: ${JSON.stringify(entry.name.slice(0, 200))}`)
  await folderAt(root, dirname(linkPath))
  await clearPath(linkPath)
  await symlink(target, linkPath)
}

const isBelow = (root: string, path: string) => path === root || path.startsWith(`${root}/`)

/** Creates missing folders. A link on the way, which a checkout may contain, must lead to a folder inside. */
async function folderAt(root: string, folder: string): Promise<void> {
  let current = root
  for (const part of relative(root, folder).split('/').filter(Boolean)) {
    current = join(current, part)
    const found = await lstat(current).catch(nullIfMissing)
    if (!found) {
      await mkdir(current)
      await chmod(current, 0o755)
    } else if (found.isSymbolicLink()) {
      const real = await realpath(current).catch(nullIfMissing)
      if (real === null || !isBelow(root, real)) throw new BadZip('would be written through a link that leads out')
    } else if (!found.isDirectory()) throw new BadZip('has a file below a file')
  }
}

async function clearPath(path: string): Promise<void> {
  const found = await lstat(path).catch(nullIfMissing)
  if (found?.isDirectory()) throw new BadZip('has a file where a folder is')
  if (found) await rm(path)
}
