/**
 * The loop of a worker over the store: a tick claims work and starts it. A tick follows whenever somebody wakes the
 * loop, and at least every second. Two ticks never run at the same time.
 */
import { setImmediate as immediate } from 'node:timers/promises'

const IDLE_MS = 1_000

export interface Loop {
  wake(): void
  /** Does everything that is due now, then resolves; for tests. */
  settle(): Promise<void>
  /** Starts nothing until the returned function is called. */
  pause(): Promise<() => void>
  /** Starts nothing more and waits for running work. */
  stop(): Promise<void>
}

interface Steps {
  /** Records finished work, and claims and starts due work unless the loop is `resting`. */
  tick(state: { readonly resting: boolean; readonly stopping: boolean }): Promise<void>
  /** Work that has begun and is not recorded yet. */
  running(): readonly Promise<void>[]
  isAnyDue(): Promise<boolean>
  /** Tells running work that the process is about to end. The returned function is called once the work has ended. */
  end(): (() => void) | void
  report(error: unknown): void
}

/** Does nothing, for read-only mode. */
export const idleLoop: Loop = {
  wake() {},
  async settle() {},
  pause: async () => () => {},
  async stop() {},
}

export function startLoop({ tick, running, isAnyDue, end, report }: Steps): Loop {
  let stopping = false
  let paused = false
  let isWoken = false
  let ticks: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const takeTick = async () => {
    isWoken = false
    await tick({ resting: stopping || paused, stopping })
  }

  function wake(): void {
    if (stopping || paused || isWoken) return
    isWoken = true
    clearTimeout(timer)
    // Work that ends at the same moment is recorded in the same tick.
    ticks = ticks
      .then(() => immediate())
      .then(takeTick)
      .catch(report)
    void ticks.then(() => {
      clearTimeout(timer)
      if (!stopping && !paused) timer = setTimeout(wake, IDLE_MS).unref()
    })
  }

  async function rest(): Promise<void> {
    clearTimeout(timer)
    await ticks
    const ended = stopping ? end() : undefined
    await Promise.all(running())
    ended?.()
    await takeTick().catch(report)
  }
  wake()

  return {
    wake,
    async settle() {
      for (;;) {
        wake()
        await ticks
        if (running().length === 0 && !(await isAnyDue())) return
        if (stopping) throw new Error('work is due, but the worker has stopped')
        if (paused) return
        await Promise.all(running())
      }
    },
    async pause() {
      paused = true
      await rest()
      return () => {
        paused = false
        wake()
      }
    },
    async stop() {
      stopping = true
      await rest()
    },
  }
}
