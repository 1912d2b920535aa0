/** Longer than a request or job should take, shorter than most supervisors wait before they kill the process. */
const PATIENCE_MS = 30_000
/** One Ctrl-C may arrive twice: from the terminal and from a launcher that forwards it. */
const ECHO_MS = 1_000

/**
 * Resolves with the first stop signal; the caller then finishes running work. If that takes too long, or a second
 * signal comes, the process ends at once with exit code 1.
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
      giveUp('interrupted twice')
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  return promise
}

function giveUp(why: string): void {
  console.error(`mortise: ${why}, stopped without waiting`)
  // Running work keeps the process alive, so only exit ends it. The store handles this like a crash.
  process.exit(1)
}
