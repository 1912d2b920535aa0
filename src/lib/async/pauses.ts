import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 20

/** For long loops: awaited in each iteration, it lets other work run as soon as this loop has used its time slice. */
export function pauses(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined
    return nextTurn().then(() => {
      since = performance.now()
    })
  }
}
