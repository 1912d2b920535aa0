/** Runs in a thread: calls `perform(input, ask)` of the given module. */
import { parentPort } from 'node:worker_threads'

/** Without an input the module is only loaded. */
export interface Order {
  readonly module: string
  readonly input?: unknown
}

/** The owner's answer to a question of the task. */
export interface Answer {
  readonly answerTo: number
  readonly answer?: unknown
  readonly fault?: string
}

export type Reply = { readonly result: unknown } | { readonly fault: string }
export type Message = Reply | { readonly number: number; readonly question: unknown }

/** Asks the owner of the thread. Questions and answers must be cloneable. */
export type Ask = (question: unknown) => Promise<unknown>

interface Module {
  perform(input: unknown, ask: Ask): unknown
}

const waiting = new Map<number, PromiseWithResolvers<unknown>>()
let calls = 0

const ask: Ask = (question) => {
  const number = ++calls
  const answer = Promise.withResolvers<unknown>()
  waiting.set(number, answer)
  parentPort?.postMessage({ number, question } satisfies Message)
  return answer.promise.finally(() => waiting.delete(number))
}

function take({ answerTo, answer, fault }: Answer): void {
  if (fault === undefined) waiting.get(answerTo)?.resolve(answer)
  else waiting.get(answerTo)?.reject(new Error(fault))
}

async function follow(order: Order): Promise<Reply> {
  try {
    const { perform } = (await import(order.module)) as Module
    return { result: 'input' in order ? await perform(order.input, ask) : undefined }
  } catch (error) {
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

// Without a parent the module is only loaded, to be compiled before it is needed.
parentPort?.on('message', (message: Order | Answer) => {
  if ('answerTo' in message) take(message)
  else void follow(message).then((reply) => parentPort?.postMessage(reply))
})
