/** Probes a server every 20 ms, from a separate thread, and reports the longest wait of each attack. */
import { Worker } from 'node:worker_threads'

const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
let longest = 0
const open = new Set()
setInterval(() => {
  const startedAt = performance.now()
  open.add(startedAt)
  const end = () => {
    open.delete(startedAt)
    longest = Math.max(longest, performance.now() - startedAt)
  }
  http.get(workerData + '/-/liveness', { agent }, (answer) => answer.resume().once('end', end)).once('error', end)
}, 20)
parentPort.on('message', () => {
  const now = performance.now()
  for (const startedAt of open) longest = Math.max(longest, now - startedAt)
  parentPort.postMessage(Math.round(longest))
  longest = 0
})
`

export class Prober implements AsyncDisposable {
  readonly #worker: Worker

  constructor(url: string) {
    this.#worker = new Worker(PROGRAM, { eval: true, workerData: url })
  }

  /** In milliseconds, over all probes since the last call. */
  async longestWait(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    this.#worker.once('message', resolve)
    this.#worker.postMessage('tell')
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
