/**
 * Metrics of all HTTP processes for `/-/metrics`. Any process may get the request. It sends the request to the first
 * process, which collects the metrics of each and sends them back. A process that does not answer in time is left out.
 */
import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import type { CollectFigures, Figures } from '../api/metrics.ts'

type Message = { readonly id: string } & (
  | { readonly figures: 'requested' | 'due' }
  | { readonly figures: 'sent'; readonly own: Figures }
  | { readonly figures: 'collected'; readonly all: Figures[] }
)

const PATIENCE_MS = 2_000

/** Runs in the first process. */
export function shareFigures(workers: () => Worker[]): void {
  cluster.on('message', (asking, { figures, id }: Message) => {
    if (figures !== 'requested') return
    const each = workers().map((worker) => figuresOf(worker, id))
    void Promise.all(each).then((all) => {
      const collected: Message = { id, figures: 'collected', all: all.filter((one) => one !== null) }
      if (asking.isConnected()) asking.send(collected)
    })
  })
}

function figuresOf(worker: Worker, id: string): Promise<Figures | null> {
  const { promise, resolve } = Promise.withResolvers<Figures | null>()
  const listen = (message: Message) => {
    if (message.figures === 'sent' && message.id === id) resolve(message.own)
  }
  const timer = setTimeout(resolve, PATIENCE_MS, null)
  worker.on('message', listen)
  if (worker.isConnected()) worker.send({ id, figures: 'due' } satisfies Message)
  else resolve(null)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', listen)
  })
}

/** Runs in an HTTP process: sends its own metrics when the first process asks for them. */
export function sendFigures(own: () => Promise<Figures>): void {
  process.on('message', ({ figures, id }: Message) => {
    if (figures === 'due') void own().then((own) => process.send?.({ id, figures: 'sent', own } satisfies Message))
  })
}

/** Runs in an HTTP process: asks the first process for the metrics of all. */
export const collectFigures: CollectFigures = () => {
  const { promise, resolve } = Promise.withResolvers<Figures[] | null>()
  const id = randomUUID()
  const listen = (message: Message) => {
    if (message.figures === 'collected' && message.id === id) resolve(message.all)
  }
  const timer = setTimeout(resolve, 2 * PATIENCE_MS, null)
  process.on('message', listen)
  process.send?.({ id, figures: 'requested' } satisfies Message)
  return promise.finally(() => {
    clearTimeout(timer)
    process.off('message', listen)
  })
}
