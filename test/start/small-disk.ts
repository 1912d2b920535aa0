/** A separate small disk that can be filled. */
import { execFileSync } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { temporaryFolder } from './command.ts'
import { hasCode } from '../../src/lib/files/system-errors.ts'

const MB = 1024 * 1024

/** Only root may mount a disk; null for others. */
export function createDisk(folder: string, size: string): Disposable | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return null
  }
  return { [Symbol.dispose]: () => void execFileSync('umount', ['-l', folder]) }
}

/** Whether this user may. */
export const canCreateDisk = await (async () => {
  await using folder = await temporaryFolder()
  using disk = createDisk(folder.path, '1m')
  return disk !== null
})()

export async function fillDisk(ballast: string): Promise<void> {
  for (const size of [MB, 4096, 1]) {
    try {
      for (;;) await appendFile(ballast, Buffer.alloc(size))
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error
    }
  }
}
