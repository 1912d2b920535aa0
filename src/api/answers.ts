/** How a refusal, a failure or a value becomes an HTTP answer: the one table of statuses and bodies. */
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, type RefusalKind } from '../errors.ts'

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

  const text = JSON.stringify(body)
  reply.header('Content-Type', 'application/json').header('X-Runtime', (reply.elapsedTime / 1000).toFixed(6))
  if (status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) {
    if (status < 400) reply.header('Cache-Control', 'no-store')
    return reply.send(text)
  }
  const tag = `W/"${hash('sha1', text, 'base64url')}"`
  reply.header('ETag', tag).header('Cache-Control', 'max-age=0, private, must-revalidate')
  return unchanged(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(text)
}

const unchanged = (given: string | undefined, tag: string) =>
  given !== undefined && given.split(',').some((one) => one.trim() === tag || one.trim() === '*')
