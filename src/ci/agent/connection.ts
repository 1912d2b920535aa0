/** Sends requests to a server, with retries. Limits the size of every answer. */
import { randomUUID } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { arch, platform } from 'node:os'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../version.ts'

const HEADERS_TIMEOUT_MS = 10 * 60_000
const REPEATS = 5
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 60_000
/** Nearly a minute in total, so that a restart of the server does not fail a job. */
export const TRIES_WHILE_AWAY = 10
export const MOST_REDIRECTS = 5
/** Larger than any job definition. */
const LONGEST_ANSWER = 32 * 1024 ** 2
const LONGEST_REASON = 64 * 1024

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: IncomingMessage
}

export interface Call {
  readonly headers?: Record<string, string>
  readonly json?: unknown
  readonly bytes?: Buffer
  /** Sent in chunks. Never retried automatically. */
  readonly stream?: () => AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal | undefined
}

/** The server understood the request and rejected it. */
export class ServerRefused extends Error {
  override name = 'ServerRefused'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class Connection {
  /** The base URL of the API, ending with a slash. */
  readonly base: string
  readonly #agent: HttpAgent

  constructor(url: string) {
    this.base = `${url.replace(/\/+$/, '').replace(/\/ci$/, '')}/api/v4/`
    const options = { keepAlive: true, maxSockets: 64 }
    this.#agent = new URL(this.base).protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Retries if the server is busy or unavailable. */
  async send(method: string, path: string, call: Call): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.once(method, new URL(path, this.base), call)
      const isTemporary = [408, 429, 500, 502, 503, 504].includes(answer.status) || answer.status >= 512
      if (!isTemporary || attempt === REPEATS) return answer
      answer.body.resume()
      await sleep(pauseOf(attempt, answer), null, call.signal ? { signal: call.signal } : {})
    }
  }

  once(method: string, url: URL, { headers = {}, json, bytes, stream, signal }: Call): Promise<Answer> {
    const body = json === undefined ? bytes : Buffer.from(JSON.stringify(json))
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const isHttps = url.protocol === 'https:'
    const isOurs = url.href.startsWith(this.base)
    const request = (isHttps ? httpsRequest : httpRequest)(url, {
      method,
      ...(isOurs ? { agent: this.#agent } : {}),
      ...(signal ? { signal } : {}),
      headers: {
        'user-agent': `mortise-runner ${VERSION} (${platform()}/${arch()})`,
        'x-request-id': randomUUID(),
        ...(json === undefined ? {} : { 'content-type': 'application/json', accept: 'application/json' }),
        ...(body ? { 'content-length': body.length } : {}),
        ...headers,
      },
    })
    const timer = setTimeout(() => request.destroy(new Error('no answer')), HEADERS_TIMEOUT_MS)
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.once('response', (body) => {
      clearTimeout(timer)
      // The stream may fail while no reader is attached. The next reader gets the error.
      body.on('error', () => {})
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body })
    })
    if (!stream) request.end(body)
    else {
      // Reads the answer of a server that rejects the request before it is fully sent.
      pipeline(Readable.from(stream(), { objectMode: false }), request).catch((error: unknown) =>
        reject(error as Error),
      )
      // A long upload has no time limit; the limit applies to the answer.
      timer.refresh()
      request.on('drain', () => timer.refresh())
    }
    return promise
  }

  /** Sends the token only to the server it belongs to. */
  async follow(first: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    let url = first
    for (let redirects = 0; ; redirects++) {
      const answer = await this.once('GET', url, { headers: url.origin === first.origin ? headers : {}, signal })
      const location = headerOf(answer, 'location')
      if (![301, 302, 303, 307, 308].includes(answer.status) || !location || redirects === MOST_REDIRECTS) return answer
      answer.body.resume()
      url = new URL(location, url)
    }
  }
}

/** In milliseconds: as long as the server says, or longer with each attempt. */
export function pauseOf(attempt: number, answer: Answer | null): number {
  const seconds = Number(answer ? headerOf(answer, 'retry-after') : Number.NaN)
  const reset = Date.parse((answer && headerOf(answer, 'ratelimit-resettime')) ?? '') - Date.now()
  const pause = seconds > 0 ? seconds * 1000 : reset > 0 ? reset : FIRST_PAUSE_MS * 2 ** (attempt - 1)
  return Math.min(pause, LONGEST_PAUSE_MS)
}

export function headerOf({ headers }: Answer, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

async function bytesOf(answer: Answer, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) {
      answer.body.destroy()
      throw new ServerRefused(answer.status, 'the answer is too long')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export async function jsonOf(answer: Answer, status: number): Promise<unknown> {
  if (answer.status !== status) throw await refusalOf(answer)
  const bytes = await bytesOf(answer, LONGEST_ANSWER)
  if (!/^application\/json\b/.test(headerOf(answer, 'content-type') ?? ''))
    throw new ServerRefused(answer.status, 'the answer is not JSON')
  return JSON.parse(bytes.toString('utf8')) as unknown
}

export async function refusalOf(answer: Answer): Promise<ServerRefused> {
  const text = await bytesOf(answer, LONGEST_REASON).then(String, () => '')
  let refusalText = ''
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown }
    const words = message ?? error ?? ''
    refusalText = typeof words === 'string' ? words : JSON.stringify(words)
  } catch {
    // Proxies may answer with HTML pages.
  }
  // Some servers repeat the status in the message.
  const words = refusalText.startsWith(`${answer.status} `) ? refusalText : `${answer.status} ${refusalText}`
  return new ServerRefused(answer.status, words.trim().slice(0, 500))
}
