/**
 * The folder for files of a test run: in memory if there is enough space, because waiting for a disk proves nothing.
 */
import { existsSync, statfsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProcessEnded, PROCESS_TAG, TAG_PATTERN } from '../async/process-tag.ts'

const MEMORY = '/dev/shm'
const ENOUGH = 2 * 1024 ** 3

export const TEMPORARY_FOLDER = hasCapacity(MEMORY) ? MEMORY : tmpdir()

function hasCapacity(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > ENOUGH
}

/** A folder that other processes may delete once this process has ended. */
export const makeTemporaryFolder = (): Promise<string> => mkdtemp(join(TEMPORARY_FOLDER, `mortise-${PROCESS_TAG}-`))

/** The rest is left to the next process. */
const MOST_SWEPT = 50
const LEFTOVER = new RegExp(`^mortise-(${TAG_PATTERN.source})-`)

/** Deletes the folders of processes that ended without deleting them. */
export async function sweepTemporaryFolders(): Promise<void> {
  const names = await readdir(TEMPORARY_FOLDER)
  const tagged = names.flatMap((name) => {
    const tag = LEFTOVER.exec(name)?.[1]
    return tag === undefined ? [] : [{ name, tag }]
  })
  const gone = tagged.filter(({ tag }) => hasProcessEnded(tag)).slice(0, MOST_SWEPT)
  // Another process may be sweeping too, and some folders belong to other users.
  const sweeping = gone.map(({ name }) => rm(join(TEMPORARY_FOLDER, name), { recursive: true, force: true }))
  await Promise.allSettled(sweeping)
}
