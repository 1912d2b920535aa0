import { setTimeout as sleep } from 'node:timers/promises'
import { withMutex } from '../../../lib/mutex.ts'
import { Overtaken } from './service.ts'

const MOST_TRIES = 20
const LONGEST_PAUSE_MS = 20

/**
 * For commits made here: one at a time on each branch, in the order they came, so that each is built on the one before.
 * A push, or another process, may move the branch all the same: then it is built once more, unless the caller said what
 * on. `isLate`: others may have changed the repository since the caller looked.
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
      // Of two processes at the same branch, not always the same one is first.
      await sleep(Math.random() * LONGEST_PAUSE_MS)
    }
  })
}
