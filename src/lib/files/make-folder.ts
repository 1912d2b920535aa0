import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './system-errors.ts'

/**
 * Creates a folder with all parents. Node's own `recursive` loops for ever if the system reports a missing folder
 * although its parent exists, as below /proc.
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
