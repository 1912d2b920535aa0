/**
 * Deletes files that killed processes, or a full disk, left behind: objects in quarantine, temporary files of objects,
 * refs and the commit-graph, and locks. They do not harm existing data, but a lock would block its ref for ever. Every
 * process that works on a repository has finished or died long before `before`. That time is system time, like the
 * times of files.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { findLocks, removeLocks } from '../refs/locks.ts'

/** Deletes them and returns their paths in the repository. */
export async function sweepRepository(dir: string, { before }: { before: Date }): Promise<string[]> {
  const drafts = await findDrafts(dir, before)
  const locks = await removeLocks(dir, before)
  for (const name of drafts) await rm(join(dir, name), { recursive: true, force: true })
  return [...drafts, ...locks]
}

/** Files that a sweep would delete because of their age. */
export async function findOrphans(dir: string, { before }: { before: Date }): Promise<string[]> {
  return [...(await findDrafts(dir, before)), ...(await findLocks(dir, before))]
}

async function findDrafts(dir: string, before: Date): Promise<string[]> {
  const objects = await namesIn(join(dir, 'objects'))
  const packs = await namesIn(join(dir, 'objects/pack'))
  const graphs = await namesIn(join(dir, 'objects/info'), true)
  const drafts = await Promise.all(objects.filter(isShard).map((name) => draftsIn(dir, join('objects', name))))
  const named = [
    ...(await draftsIn(dir)),
    ...graphs.filter((name) => isLock(name) || isDraft(basename(name))).map((name) => join('objects/info', name)),
    // Includes temporary files in quarantines.
    ...(await draftsIn(dir, 'objects')),
    ...packs.filter((name) => isDraft(name) || isUnindexed(name, packs)).map((name) => join('objects/pack', name)),
    ...drafts.flat(),
  ]
  const left: string[] = []
  for (const name of named) if (await isOlder(join(dir, name), before)) left.push(name)
  return left
}

const isLock = (name: string) => name.endsWith('.lock')
const isDraft = (name: string) => name.startsWith('tmp_')
/** A folder of loose objects with the same prefix. */
const isShard = (name: string) => /^[0-9a-f]{2}$/.test(name)

const draftsIn = async (dir: string, folder = '') =>
  (await namesIn(join(dir, folder))).filter(isDraft).map((name) => join(folder, name))

/** A pack that was leaving its quarantine: its index, which comes last, is missing. Git ignores such a pack. */
const isUnindexed = (name: string, packs: readonly string[]) =>
  name.endsWith('.pack') && !packs.includes(name.replace(/pack$/, 'idx'))

const namesIn = async (dir: string, recursive = false) => (await readdir(dir, { recursive }).catch(nullIfMissing)) ?? []

/** A quarantine is as recent as the newest file in it. */
async function isOlder(path: string, before: Date): Promise<boolean> {
  const packs = (await readdir(join(path, 'pack')).catch(() => [])).map((name) => join(path, 'pack', name))
  const times = await Promise.all([path, ...packs].map((at) => stat(at).catch(() => null)))
  return times.every((time) => time === null || time.mtime < before)
}
