export interface Coalesced {
  /** Resolves after a run that starts after this call; all callers during a run share the next one. */
  run(): Promise<void>
  /** Resolves when all runs requested so far have finished. */
  settled(): Promise<void>
}

/** Runs `work` one at a time. After a failure it is not retried: every caller gets the same error. */
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
