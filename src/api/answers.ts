/** How a refusal, a failure or a value becomes an HTTP answer: the one table of statuses and bodies. */
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, type RefusalKind } from '../errors.ts'
import { written } from './once.ts'

const STATUS: Record<RefusalKind, number> = {
  not_modified: 304,
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unprocessable: 422,
  throttled: 429,
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
}

/**
 * Facts that shape the body: `as` puts the text under `error` or under both keys, `error` adds another text beside
 * `message`, `body` replaces it all; `headers` are sent along.
 */
export function refusalBody({ kind, said = REASON[kind], facts }: Refusal): unknown {
  if (kind === 'not_modified') return undefined
  if (facts.body) return facts.body
  if (facts.as === 'error') return { error: said }
  if (facts.as === 'both') return { message: said, error: said }
  return typeof facts.error === 'string' ? { message: said, error: facts.error } : { message: said }
}

export const UNKNOWN_ROUTE = { error: '404 Not Found' }
export const FAILURE = { message: '500 Internal Server Error' }

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  if (refusal.facts.headers) reply.headers(refusal.facts.headers as Record<string, string>)
  return send(request, reply, STATUS[refusal.kind], refusalBody(refusal))
}

/** Everything that was thrown and is not an answer is our fault: the caller learns no more than that. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof Refusal) return sendRefusal(request, reply, error)
  request.log.error({ err: error, reqId: request.id }, 'request failed')
  return send(request, reply, 500, FAILURE)
}

export function send(request: FastifyRequest, reply: FastifyReply, status: number, body: unknown): FastifyReply {
  reply.code(status)
  if (body === undefined) return reply.send()
  if (body instanceof Readable || Buffer.isBuffer(body)) return reply.send(body)

  reply.header('content-type', 'application/json').header('x-runtime', (reply.elapsedTime / 1000).toFixed(6))
  if (status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) {
    if (status < 400) reply.header('cache-control', 'no-store')
    const text = JSON.stringify(body)
    return sendText(request, reply, text, Buffer.byteLength(text))
  }
  const { text, length, tag } = written(body)
  reply.header('etag', tag).header('cache-control', 'max-age=0, private, must-revalidate')
  if (unchanged(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return sendText(request, reply, text, length)
}

/**
 * Past the framework, which would look at the type again, parse it and add a charset to it: python-gitlab, for one,
 * wants it bare.
 */
function sendText(request: FastifyRequest, reply: FastifyReply, text: string, length: number): FastifyReply {
  const headers = reply.header('content-length', length).getHeaders()
  reply.hijack().raw.writeHead(reply.statusCode, headers as OutgoingHttpHeaders)
  reply.raw.end(request.method === 'HEAD' ? undefined : text)
  return reply
}

const unchanged = (given: string | undefined, tag: string) =>
  given !== undefined && given.split(',').some((one) => one.trim() === tag || one.trim() === '*')
