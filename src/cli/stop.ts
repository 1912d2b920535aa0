/** Longer than a request or job should take, shorter than most supervisors wait before they kill. */
const PATIENCE_MS = 30_000
/** One Ctrl-C may arrive twice: from the terminal and from a launcher that passes it on. */
const ECHO_MS = 1_000

/**
 * Resolves with the first signal to stop; the caller then finishes what is running. A drain that takes too long, or a
 * second signal of someone who will not wait, ends the process at once with exit code 1.
 */
export function stopRequested(
  signals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
  patience = PATIENCE_MS,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let since: number | null = null
  const onSignal = () => {
    if (since === null) {
      since = performance.now()
      setTimeout(() => giveUp(`not finished after ${patience / 1000} s`), patience).unref()
      resolve()
    } else if (performance.now() - since > ECHO_MS) {
      giveUp('asked twice')
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  return promise
}

function giveUp(why: string): void {
  console.error(`mortise: ${why}, stopped without waiting`)
  // Whatever still runs holds the process open: nothing gentler ends it. The store bears this as it bears a crash.
  process.exit(1)
}
