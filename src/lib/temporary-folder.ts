/** Where files go that live as long as a test: into memory if it has room, because waiting for a disk shows nothing. */
import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
const ENOUGH = 2 * 1024 ** 3

export const TEMPORARY_FOLDER = hasRoom(MEMORY) ? MEMORY : tmpdir()

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > ENOUGH
}
