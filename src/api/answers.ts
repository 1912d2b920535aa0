/** Turns a refusal, an error or a value into an HTTP answer: the only table of statuses and bodies. */
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal, type RefusalKind } from '../errors.ts'
import { hasCode, isDiskFull } from '../lib/files/system-errors.ts'
import { PoolFull } from '../lib/threads/errors.ts'
import { BlobStoreUnavailable } from '../store/blobs/blobs.ts'
import { StoreUnavailable } from '../store/database.ts'
import { isStoreFull } from '../store/dialect.ts'
import { PageTooLarge } from '../store/pages.ts'
import type { Exchange } from './exchange.ts'
import { Json } from './json.ts'

const STATUS: Record<RefusalKind, number> = {
  not_modified: 304,
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_type: 415,
  unprocessable: 422,
  throttled: 429,
  unavailable: 503,
  no_space: 507,
  busy: 503,
}

const REASON: Partial<Record<RefusalKind, string>> = {
  bad_request: '400 Bad Request',
  unauthenticated: '401 Unauthorized',
  forbidden: '403 Forbidden',
  not_found: '404 Not found',
  not_allowed: '405 Method Not Allowed',
  precondition_failed: '412 Precondition Failed',
  too_large: '413 Request Entity Too Large',
  throttled: '429 Too Many Requests',
  unavailable: '503 Service Unavailable',
  no_space: '507 Insufficient Storage',
  busy: '503 Service Unavailable',
}

/** The body that clients expect for rate limits. */
const TOO_MANY = { message: { error: 'This endpoint has been requested too many times. Try again later.' } }

/**
 * `facts` shape the body: `as` puts the text under `error` or under both keys, `error` adds another text next to
 * `message`, `body` replaces the whole body; `headers` are added to the answer.
 */
function refusalBody({ kind, reason = REASON[kind], facts }: Refusal): unknown {
  if (kind === 'not_modified') return undefined
  if (facts.body) return facts.body
  if (kind === 'throttled' && reason === REASON.throttled) return TOO_MANY
  if (facts.as === 'error') return { error: reason }
  if (facts.as === 'both') return { message: reason, error: reason }
  return typeof facts.error === 'string' ? { message: reason, error: facts.error } : { message: reason }
}

export const UNKNOWN_ROUTE = { error: '404 Not Found' }
const FAILURE = { message: '500 Internal Server Error' }

export interface Answered {
  readonly status: number
  readonly body: unknown
  readonly headers?: Record<string, string>
  /**
   * Headers that are sent together with a text body get the encoding of the body. If a header may not be ASCII, the
   * body is sent as bytes, which costs a little more.
   */
  readonly asBytes?: boolean
}

/** A temporary failure that the caller cannot fix; null for every other error. */
export function outageOf(error: unknown): Refusal | null {
  if (error instanceof StoreUnavailable)
    return new Refusal('unavailable', '503 The database does not answer', { headers: { 'Retry-After': '5' } })
  if (error instanceof BlobStoreUnavailable) return new Refusal('unavailable', '503 The blob store does not answer')
  if (error instanceof PoolFull) return new Refusal('busy', REASON.busy, { headers: { 'Retry-After': '10' } })
  if (error instanceof PageTooLarge) return new Refusal('too_large')
  if (isStoreFull(error) || isDiskFull(error)) return new Refusal('no_space', '507 The disk of the server is full')
  return null
}

/** The answer for an error. An error that is not a refusal is our fault: the caller gets no details. */
export function answerTo(failure: unknown): Answered {
  const error = failure instanceof Refusal ? failure : outageOf(failure)
  if (!error) return { status: 500, body: FAILURE }
  return {
    status: STATUS[error.kind],
    body: refusalBody(error),
    headers: error.facts.headers as Record<string, string>,
  }
}

const CLIENT_GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']

export function send(exchange: Exchange, { status, body, headers: more, asBytes = false }: Answered): void {
  const { request, response, headers } = exchange
  Object.assign(headers, more)
  exchange.took = performance.now() - exchange.startedAt
  headers['X-Runtime'] = (exchange.took / 1000).toFixed(6)
  if (body === undefined) return void response.writeHead(status, headers).end()
  if (body instanceof Readable || body instanceof Uint8Array) {
    const isKnown = typeof headers.ETag === 'string' && unchanged(request.headers['if-none-match'], headers.ETag)
    if (body instanceof Uint8Array && !isKnown) headers['Content-Length'] = body.length
    response.writeHead(isKnown ? 304 : status, headers)
    const hasBody = !isKnown && request.method !== 'HEAD'
    if (body instanceof Uint8Array) return void response.end(hasBody ? body : undefined)
    if (hasBody) {
      return void pipeline(body, response).catch((error: unknown) => {
        response.destroy()
        if (!hasCode(error, ...CLIENT_GONE)) exchange.onLoss(error)
      })
    }
    body.destroy()
    return void response.end()
  }
  headers['Content-Type'] = 'application/json'
  if (status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) {
    if (status < 400) headers['Cache-Control'] = 'no-store'
    const content = body instanceof Json ? body.bytes : JSON.stringify(body)
    headers['Content-Length'] = Buffer.byteLength(content)
    return void response.writeHead(status, headers).end(asBytes ? Buffer.from(content) : content)
  }
  const { content, length, tag } = written(body)
  headers.ETag = tag
  headers['Cache-Control'] = 'max-age=0, private, must-revalidate'
  if (unchanged(request.headers['if-none-match'], tag)) return void response.writeHead(304, headers).end()
  headers['Content-Length'] = String(length)
  response.writeHead(200, headers)
  if (request.method === 'HEAD') response.end()
  else response.end(asBytes && typeof content === 'string' ? Buffer.from(content) : content)
}

interface Written {
  readonly content: string | Buffer
  readonly length: number
  readonly tag: string
}

/** Longer bodies are sent as bytes: a text would be copied twice, to follow its headers and to be encoded. */
const LONG = 32_768
/** The limit for bodies that are bytes already: a record, not a list. */
const SHORT = 8192

/** A body in the form that is sent, with its weak entity tag. */
function written(body: unknown): Written {
  if (body instanceof Json) {
    const { length } = body.bytes
    return { content: length < SHORT ? body.text : body.bytes, length, tag: `W/"${body.digest}"` }
  }
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return { content: length < LONG ? text : Buffer.from(text), length, tag: `W/"${hash('sha1', text, 'base64url')}"` }
}

/** A proxy that compresses answers makes strong tags weak. */
const opaque = (tag: string) => tag.trim().replace(/^W\//, '')

const unchanged = (given: string | undefined, tag: string) =>
  given !== undefined && given.split(',').some((one) => opaque(one) === opaque(tag) || one.trim() === '*')
