export interface Coalesced {
  /** Resolves after a run that began after this call; all who call while one is going on share the next. */
  run(): Promise<void>
  /** Resolves when all that were asked for by now are over. */
  settled(): Promise<void>
}

/** Runs `work` one at a time. Once it has failed it is not tried again: everybody hears of the same failure. */
export function coalesce(work: () => Promise<void>): Coalesced {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return {
    run: () =>
      (next ??= running.then(() => {
        running = next!
        next = null
        return work()
      })),
    settled: () => next ?? running,
  }
}
