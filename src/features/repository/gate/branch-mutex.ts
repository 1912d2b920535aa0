import { setTimeout as sleep } from 'node:timers/promises'
import { withMutex } from '../../../lib/async/mutex.ts'
import { Overtaken } from './service.ts'

const MOST_TRIES = 20
const LONGEST_PAUSE_MS = 20

/**
 * Serializes commits that the server creates on a branch, so that each builds on the previous one. A push or another
 * process may still move the branch. Then the commit is built again, unless the caller named its base. `isLate`: the
 * repository may have changed since the caller read it.
 */
export function withBranchMutex<T>(
  dir: string,
  branch: string,
  build: (isLate: boolean) => Promise<T>,
  { mayRebuild = true }: { mayRebuild?: boolean } = {},
): Promise<T> {
  return withMutex(`${dir} ${branch}`, async (hasWaited) => {
    for (let tries = 1; ; tries++) {
      try {
        return await build(hasWaited || tries > 1)
      } catch (error) {
        if (!(error instanceof Overtaken) || !mayRebuild || tries === MOST_TRIES) throw error
      }
      // A random pause, so that of two competing processes not always the same one wins.
      await sleep(Math.random() * LONGEST_PAUSE_MS)
    }
  })
}
