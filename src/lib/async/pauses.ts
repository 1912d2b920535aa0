import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 20

/** For long loops: awaited in each round, it lets others have their turn as soon as this one has had enough of it. */
export function pauses(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < TURN_MS) return undefined
    return nextTurn().then(() => {
      since = performance.now()
    })
  }
}
