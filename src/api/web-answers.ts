/** The same answers for routes outside the API, which the web framework serves. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import { answerTo } from './answers.ts'

export function send(_request: FastifyRequest, reply: FastifyReply, status: number, body: unknown): FastifyReply {
  reply.code(status)
  if (body === undefined) return reply.send()
  // Bytes, not text: the framework would add a charset to the type.
  return reply.header('Content-Type', 'application/json').send(Buffer.from(JSON.stringify(body)))
}

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, body, headers } = answerTo(refusal)
  if (headers) reply.headers(headers)
  return send(request, reply, status, body)
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof Refusal) return sendRefusal(request, reply, error)
  request.log.error({ err: error, reqId: request.id }, 'request failed')
  const { status, body } = answerTo(error)
  return send(request, reply, status, body)
}
