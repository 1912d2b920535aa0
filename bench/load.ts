/**
 * The load generator: HTTP/1.1 over plain keep-alive sockets on loopback, one request in flight on each. Node's own
 * HTTP client costs more than the floor it would measure, so the floor would look slow and every ratio too good.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly token?: string
  /** Sent as a form. */
  readonly body?: string
}

function requestBytes({ method = 'GET', path, token, body = '' }: Call): Buffer {
  const credential = token ? `PRIVATE-TOKEN: ${token}\r\n` : ''
  const type = 'Content-Type: application/x-www-form-urlencoded\r\n'
  const content = method === 'GET' ? '' : `${type}Content-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${credential}${content}\r\n${body}`)
}

const HEAD_END = '\r\n\r\n'
const ANSWER_TIMEOUT_MS = 10_000

class Connection implements Disposable {
  readonly #socket: Socket
  #received: Buffer[] = []
  #size = 0
  #expected = Infinity
  #status = 0
  #head = ''
  #settle: PromiseWithResolvers<number> | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => this.#settle?.reject(error))
    socket.on('close', () => this.#settle?.reject(new Error('the server closed the connection')))
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')))
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  /** Resolves to the status of the answer, once its last byte has arrived. */
  async send(request: Buffer): Promise<number> {
    this.#settle = Promise.withResolvers<number>()
    this.#socket.write(request)
    return this.#settle.promise
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk)
    this.#size += chunk.length
    if (this.#expected === Infinity) this.#readHead()
    if (this.#size < this.#expected) return
    this.#received = []
    this.#size = 0
    this.#expected = Infinity
    this.#settle?.resolve(this.#status)
  }

  #readHead(): void {
    const bytes = this.#received.length === 1 ? this.#received[0]! : Buffer.concat(this.#received)
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return
    const head = bytes.toString('latin1', 0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#status = Number(head.slice(9, 12))
    this.#head = head
    this.#expected = end + HEAD_END.length + Number(length ?? 0)
    if (!length && isFine(this.#status)) this.#settle?.reject(new Error('an answer without Content-Length'))
  }

  /** A header of the last answer. */
  header(name: string): string {
    return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(this.#head)?.[1] ?? ''
  }

  [Symbol.dispose]() {
    this.#socket.destroy()
  }
}

async function withConnections<T>(port: number, count: number, use: (open: Connection[]) => Promise<T>): Promise<T> {
  using stack = new DisposableStack()
  const open = await Promise.all(Array.from({ length: count }, () => Connection.open(port)))
  for (const connection of open) stack.use(connection)
  return await use(open)
}

/** One caller per call, each repeating it as long as it gets something; a lost race counts as a reason to repeat. */
export async function askUntilRefused(
  port: number,
  calls: readonly Call[],
): Promise<{ times: number[]; given: number }> {
  const times: number[] = []
  let given = 0
  await withConnections(port, calls.length, async (open) => {
    await Promise.all(
      open.map(async (connection, n) => {
        const request = requestBytes(calls[n]!)
        for (let status = 0; status !== 204;) {
          const start = performance.now()
          status = await connection.send(request)
          times.push(performance.now() - start)
          if (status === 201) given++
          else if (status !== 204 && status !== 409) assertAnswered(status, calls[n]!)
        }
      }),
    )
  })
  return { times, given }
}

/** One caller who reads the value that a runner must send the next time. */
export function withAsker<T>(
  port: number,
  use: (ask: (call: Call) => Promise<{ status: number; lastUpdate: string }>) => Promise<T>,
): Promise<T> {
  return withConnections(port, 1, ([connection]) =>
    use(async (call) => {
      const status = await connection!.send(requestBytes(call))
      return { status, lastUpdate: connection!.header('X-GitLab-Last-Update') }
    }),
  )
}

const isFine = (status: number) => status === 200 || status === 201

function assertAnswered(status: number, { path }: Call): void {
  if (!isFine(status)) throw new Error(`${path} answered ${status}`)
}

export interface Loop {
  readonly connections: number
  readonly count: number
  readonly seconds?: number
  /** The index in `calls` to start at. */
  readonly from?: number
  /** Runs after every `requests` requests, while the other connections continue. */
  readonly between?: { readonly requests: number; act(): Promise<void> }
}

/** The number of answered requests for `connections` callers who each wait for their answer; an error throws. */
export async function closedLoop(
  port: number,
  calls: readonly Call[],
  { connections, count, seconds = Infinity, from = 0, between }: Loop,
): Promise<number> {
  const requests = calls.map(requestBytes)
  return withConnections(port, connections, async (open) => {
    const until = performance.now() + seconds * 1000
    let sent = 0
    await Promise.all(
      open.map(async (connection) => {
        while (sent < count && performance.now() < until) {
          const mine = sent++
          const next = (from + mine) % requests.length
          assertAnswered(await connection.send(requests[next]!), calls[next]!)
          if (between && mine % between.requests === 0) await between.act()
        }
      }),
    )
    return sent
  })
}

/** Wall-clock milliseconds of a call right after each of `changes`, by one caller. */
export async function afterChanges(port: number, changes: readonly Call[], calls: readonly Call[]): Promise<number> {
  return withConnections(port, 1, async ([connection]) => {
    const times: number[] = []
    for (const [i, change] of changes.entries()) {
      const call = calls[i % calls.length]!
      assertAnswered(await connection!.send(requestBytes(change)), change)
      const start = performance.now()
      assertAnswered(await connection!.send(requestBytes(call)), call)
      times.push(performance.now() - start)
    }
    return median(times)
  })
}

export interface Latencies {
  readonly sent: number
  readonly errors: number
  readonly p50: number
  readonly p99: number
  /** The latency of each request, in milliseconds. */
  readonly all: readonly number[]
}

/**
 * Sends at a fixed rate whether or not answers come back. Each latency counts from the moment the request was due, so a
 * server that stalls is charged for everybody who would have waited.
 */
export async function openLoop(
  port: number,
  calls: readonly Call[],
  { connections, rate, seconds }: { connections: number; rate: number; seconds: number },
): Promise<Latencies> {
  const requests = calls.map(requestBytes)
  const total = rate * seconds
  const latencies: number[] = []
  let errors = 0
  await withConnections(port, connections, async (open) => {
    const start = performance.now()
    const dueAt = (n: number) => start + (n * 1000) / rate
    let sent = 0
    await Promise.all(
      open.map(async (connection) => {
        while (sent < total) {
          const mine = sent++
          const wait = dueAt(mine) - performance.now()
          if (wait > 0) await sleep(wait)
          const status = await connection.send(requests[mine % requests.length]!).catch(() => 0)
          if (!isFine(status)) errors++
          latencies.push(performance.now() - dueAt(mine))
          if (status === 0) return
        }
      }),
    )
  })
  return {
    sent: latencies.length,
    errors,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    all: latencies,
  }
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)
