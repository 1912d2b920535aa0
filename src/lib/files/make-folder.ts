import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './system-errors.ts'

/**
 * A folder with all those above it. Node's own `recursive` never ends where the system says that a folder is missing
 * although the one above it is there, as below /proc.
 */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await stat(path)).isDirectory()) return
    const above = dirname(path)
    if (!hasCode(error, 'ENOENT') || existsSync(above)) throw error
    await makeFolder(above, mode)
    await makeFolder(path, mode)
  }
}
