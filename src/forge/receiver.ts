/** A URL that collects what is sent to it, for tests of webhooks, integrations and bots. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pass } from 'node:timers/promises'
import type * as door from './types.ts'

const MOST_KEPT = 10_000
const MOST_BYTES = 50_000_000
const DEADLINE = 5000

interface Stored {
  readonly delivery: door.Delivery
  /** Already returned by `next()`. */
  isTaken: boolean
}

export class Receiver implements door.Receiver {
  readonly url: string
  readonly #server: Server
  readonly #waiting = new Set<() => void>()
  #kept: Stored[] = []
  #answer: door.ReceiverAnswer = {}
  #times = Infinity
  #closed: Promise<void> | null = null

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  static async start(): Promise<Receiver> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    const receiver = new Receiver(server)
    server.on('request', (request, response) => {
      receiver.#take(request, response).catch(() => response.destroy())
    })
    return receiver
  }

  get deliveries(): door.Delivery[] {
    return this.#kept.map(({ delivery }) => delivery)
  }

  async next(kind?: string, { timeout = DEADLINE }: { timeout?: number } = {}): Promise<door.Delivery> {
    const over = Date.now() + timeout
    for (;;) {
      const found = this.#kept.find((one) => !one.isTaken && (kind === undefined || isOf(one.delivery, kind)))
      if (found) {
        found.isTaken = true
        return found.delivery
      }
      const left = over - Date.now()
      if (this.#closed || left <= 0) throw new Error(this.#missed(kind, timeout))
      await this.#somethingWithin(left)
    }
  }

  answer(input: door.ReceiverAnswer): void {
    this.#answer = input
    this.#times = input.times ?? Infinity
  }

  clear(): void {
    this.#kept = []
    this.answer({})
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
      for (const tell of this.#waiting) tell()
    })
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #somethingWithin(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#waiting.add(resolve)
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(resolve)
    })
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    const { status = 200, headers = {}, text = '', delay = 0, hang = false } = this.#nextAnswer()
    this.#kept.push({ delivery: deliveryOf(request, body), isTaken: false })
    if (this.#kept.length === 2 * MOST_KEPT) this.#kept = this.#kept.slice(-MOST_KEPT)
    for (const tell of this.#waiting) tell()
    if (hang) return
    if (delay > 0) await pass(delay)
    response.writeHead(status, headers).end(text)
  }

  #nextAnswer(): door.ReceiverAnswer {
    if (this.#times <= 0) return {}
    this.#times--
    return this.#answer
  }

  #missed(kind: string | undefined, timeout: number): string {
    const what = kind === undefined ? 'nothing more' : `no delivery of kind ${kind}`
    const came = this.#kept.map(({ delivery, isTaken }) => delivery.kind + (isTaken ? ' (taken)' : ''))
    const instead = came.length === 0 ? 'nothing came at all' : `what came: ${came.slice(-20).join(', ')}`
    return this.#closed
      ? `the receiver ${this.url} is closed; ${instead}`
      : `${what} came to ${this.url} within ${timeout} ms; ${instead}`
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MOST_BYTES) throw new Error('more than a receiver takes')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function deliveryOf(request: IncomingMessage, text: string): door.Delivery {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const body = parsed(text)
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const event = headers['x-gitlab-event'] ?? null
  const kind = [fields.object_kind, fields.event_name, event].find((one) => typeof one === 'string') ?? 'other'
  return { kind: String(kind), event, method: request.method ?? '', path: request.url ?? '', headers, body }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Matches the name in the body, also a more specific one (`confidential_issue`), or the header (`Push Hook`). */
const isOf = ({ kind, event, body }: door.Delivery, name: string): boolean =>
  [kind, event, body?.event_type, body?.event_name].includes(name)
