/**
 * Sends pending deliveries: in the order of events to each receiver, and in parallel across receivers. Several
 * processes may each run a deliverer over the same store. A receiver that fails or is slow is marked as troubled. Only
 * a limited number of troubled queues is served at once, so that they never delay healthy receivers.
 */
import type { App, TransactionApp } from '../../../context.ts'
import { startLoop, type Loop } from '../../../jobs/loop.ts'
import { together } from '../../../store/together.ts'
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

const MOST_QUEUES = 100
const MOST_TROUBLED = 50
/** After so many deliveries of one queue, other queues get their chance. */
const MOST_IN_A_ROW = 50
const LONGEST_IN_A_ROW_MS = 30_000
/** Time for requests under way when the process ends. The next process sends an aborted one once more. */
const PATIENCE_MS = 5_000

const writeResult = together(async (app: TransactionApp, results: readonly DeliveryResult[]): Promise<void[]> => {
  await writeResults(app, results)
  return results.map(() => {})
})

export function startDeliverer(app: App): Loop {
  const log = app.log.child({ part: 'deliveries' })
  const relaxed = { ...app, db: app.store.relaxed }
  const running = new Map<number, { queue: DeliveryQueue; work: Promise<void> }>()
  const ending = new AbortController()
  const cut = new AbortController()
  const reportTrouble = (error: unknown) => log.error({ err: error }, 'deliveries could not be made')

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
          await writeResult(relaxed, made)
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

  async function tick({ resting }: { resting: boolean }): Promise<void> {
    if (resting) return
    const served = [...running.values()].map(({ queue }) => queue)
    const troubledNow = served.filter(({ troubled }) => troubled).length
    const most = { all: MOST_QUEUES - running.size, troubled: MOST_TROUBLED - troubledNow }
    if (most.all <= 0 || !(await isAnyQueueDue(app, { ...most, busy: busyOwners(served) }))) return
    const queues = await transact(relaxed, (app) => claimQueues(app, most, served))
    for (const queue of queues) {
      const work = serve(queue)
        .catch(reportTrouble)
        .then(() => {
          running.delete(queue.id)
          loop.wake()
        })
      running.set(queue.id, { queue, work })
    }
  }

  const loop = startLoop({
    tick,
    running: () => [...running.values()].map(({ work }) => work),
    isAnyDue: async () => !ending.signal.aborted && (await isAnyQueueDue(app, { troubled: 1, busy: busyOwners([]) })),
    end() {
      ending.abort()
      const timer = setTimeout(() => cut.abort(new Error('the process is ending')), PATIENCE_MS)
      return () => clearTimeout(timer)
    },
    report: reportTrouble,
  })
  return loop
}
