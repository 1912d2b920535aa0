/** Runs in a thread of its own: `perform(input)` of the module it is told. */
import { parentPort } from 'node:worker_threads'

/** Without an input the module is only loaded. */
export interface Order {
  readonly module: string
  readonly input?: unknown
}

export type Reply = { readonly result: unknown } | { readonly fault: string }

interface Module {
  perform(input: unknown): unknown
}

async function follow(order: Order): Promise<Reply> {
  try {
    const { perform } = (await import(order.module)) as Module
    return { result: 'input' in order ? await perform(order.input) : undefined }
  } catch (error) {
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

// Without a parent it is only loaded, to be compiled before it is needed.
parentPort?.on('message', (order: Order) => {
  void follow(order).then((reply) => parentPort?.postMessage(reply))
})
