/**
 * Sends pending deliveries: in the order of events to each receiver, and in parallel across receivers. Several
 * processes may each run a deliverer over the same store. A receiver that fails or is slow is marked as troubled. Only
 * a limited number of troubled queues is served at once, so that they never delay healthy receivers.
 */
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { deliver } from './deliver.ts'
import {
  busyOwners,
  claimQueues,
  isAnyQueueDue,
  nextInQueue,
  releaseQueue,
  restOf,
  writeResults,
  type DeliveryResult,
} from './queues.ts'
import type { DeliveryQueue } from './model.ts'

const MOST_LANES = 100
const MOST_TROUBLED = 50
const IDLE_MS = 1_000
/** After so many deliveries of one queue, other queues get their chance. */
const MOST_IN_A_ROW = 50
const LONGEST_IN_A_ROW_MS = 30_000
/** Time for requests under way when the process ends. The next process sends an aborted one once more. */
const PATIENCE_MS = 5_000

export interface Deliverer {
  wake(): void
  /** Sends everything that is due now, then resolves; for tests. */
  settle(): Promise<void>
  /** Sends nothing until the returned function is called. */
  pause(): Promise<() => void>
  /** Lets requests under way finish or fail, and claims no more queues. */
  stop(): Promise<void>
}

export function startDeliverer(app: App): Deliverer {
  const log = app.log.child({ part: 'deliveries' })
  const relaxed = { ...app, db: app.store.relaxed }
  const running = new Map<number, { lane: DeliveryQueue; work: Promise<void> }>()
  const ending = new AbortController()
  const cut = new AbortController()
  let turn: Promise<void> = Promise.resolve()
  let isNextTick = false
  let paused = false
  let timer: NodeJS.Timeout | undefined
  let notes: { note: DeliveryResult; noted: () => void; failed: (error: unknown) => void }[] = []
  let noting: Promise<void> | null = null

  const reportTrouble = (error: unknown) => log.error({ err: error }, 'deliveries could not be made')

  /** Results that several queues report at the same time are written in one transaction. */
  function note(one: DeliveryResult): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    notes.push({ note: one, noted: resolve, failed: reject })
    noting ??= Promise.resolve().then(writeAll)
    return promise
  }

  async function writeAll(): Promise<void> {
    while (notes.length > 0) {
      const some = notes
      notes = []
      try {
        await transact(relaxed, (app) =>
          writeResults(
            app,
            some.map(({ note }) => note),
          ),
        )
        for (const { noted } of some) noted()
      } catch (error) {
        for (const { failed } of some) failed(error)
      }
    }
    noting = null
  }

  async function serve(queue: DeliveryQueue): Promise<void> {
    const began = performance.now()
    let troubled = queue.troubled
    let left = MOST_IN_A_ROW
    let until: string | null = null
    try {
      while (left > 0 && !ending.signal.aborted && performance.now() - began < LONGEST_IN_A_ROW_MS) {
        until = await restOf(relaxed, queue)
        if (until !== null) return
        const waiting = await nextInQueue(app, queue, left)
        if (waiting.length === 0) break
        for (const delivery of waiting) {
          if (ending.signal.aborted || performance.now() - began > LONGEST_IN_A_ROW_MS) break
          const { note: made, isSlow, isResting } = await deliver(app, delivery, cut.signal)
          troubled = isSlow
          left--
          await note(made)
          if (isResting) break
          // A queue that has become troubled must be claimed again, within the limit of troubled queues.
          if (troubled && !queue.troubled) return
        }
      }
    } catch (error) {
      if (!cut.signal.aborted) throw error
    } finally {
      await releaseQueue(relaxed, queue, { troubled, isIdle: left === MOST_IN_A_ROW && until === null, until })
    }
  }

  async function takeTurn(): Promise<void> {
    isNextTick = false
    if (ending.signal.aborted || paused) return
    const served = [...running.values()].map(({ lane: queue }) => queue)
    const troubledNow = served.filter(({ troubled }) => troubled).length
    const most = { all: MOST_LANES - running.size, troubled: MOST_TROUBLED - troubledNow }
    if (most.all <= 0 || !(await isAnyQueueDue(app, { ...most, busy: busyOwners(served) }))) return
    const queues = await transact(relaxed, (app) => claimQueues(app, most, served))
    for (const queue of queues) {
      const work = serve(queue)
        .catch(reportTrouble)
        .then(() => {
          running.delete(queue.id)
          wake()
        })
      running.set(queue.id, { lane: queue, work })
    }
  }

  function wake(): void {
    if (ending.signal.aborted || paused || isNextTick) return
    isNextTick = true
    clearTimeout(timer)
    turn = turn.then(takeTurn).catch(reportTrouble)
    void turn.then(() => {
      clearTimeout(timer)
      if (!ending.signal.aborted && !paused) timer = setTimeout(wake, IDLE_MS).unref()
    })
  }

  async function rest(): Promise<void> {
    clearTimeout(timer)
    await turn
    await Promise.all([...running.values()].map(({ work }) => work))
  }
  wake()

  return {
    wake,
    async settle() {
      for (;;) {
        wake()
        await turn
        if (ending.signal.aborted || paused) return
        if (running.size === 0 && !(await isAnyQueueDue(app, { troubled: 1, busy: busyOwners([]) }))) return
        await Promise.all([...running.values()].map(({ work }) => work))
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
      ending.abort()
      const timer = setTimeout(() => cut.abort(new Error('the process is ending')), PATIENCE_MS)
      await rest()
      clearTimeout(timer)
    },
  }
}
