/**
 * Batches small concurrent writes of one kind into one transaction: each costs its statements, and all together cost
 * one commit. If the transaction fails, each write is retried alone, so that no caller gets the error of another. Use
 * it only outside transactions. The batch runs with the app of its first caller.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Store } from './database.ts'
import { transact, type InTransaction, type Transactable } from './transact.ts'

const MOST = 50

interface RequestContext<W, R> extends Pick<PromiseWithResolvers<R>, 'resolve' | 'reject'> {
  readonly input: W
}

/** `write` returns its results in the order of `inputs`. */
export function together<A extends Transactable & { readonly store: Store }, W, R>(
  write: (app: InTransaction<A>, inputs: readonly W[]) => Promise<readonly R[]>,
): (app: A, input: W) => Promise<R> {
  const queues = new WeakMap<Store, RequestContext<W, R>[]>()

  async function writeAll(app: A, requests: readonly RequestContext<W, R>[]): Promise<void> {
    const inputs = requests.map(({ input }) => input)
    try {
      const results = await transact(app, (app) => write(app, inputs))
      for (const [n, { resolve }] of requests.entries()) resolve(results[n]!)
    } catch (error) {
      if (requests.length === 1) return requests[0]!.reject(error)
      for (const one of requests) await writeAll(app, [one])
    }
  }

  async function work(app: A, queue: RequestContext<W, R>[]): Promise<void> {
    await immediate()
    while (queue.length > 0) await writeAll(app, queue.splice(0, MOST))
    queues.delete(app.store)
  }

  return (app, input) => {
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const one = { input, resolve, reject }
    const queue = queues.get(app.store)
    if (queue) queue.push(one)
    else {
      const fresh = [one]
      queues.set(app.store, fresh)
      void work(app, fresh)
    }
    return promise
  }
}
