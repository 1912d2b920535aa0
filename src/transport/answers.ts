/** Answers for git clients, which show their user only plain text. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerTo, outageOf } from '../api/answers.ts'
import { Refusal } from '../errors.ts'

export function sendPlain(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, headers = {} } = answerTo(error)
  return reply
    .code(status)
    .headers({ ...headers, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' })
    .send(`${textOf(request, error)}\n`)
}

/** The text of a rejection. The details of a failure go to the log, not to the client. */
export function textOf(request: FastifyRequest, error: unknown): string {
  if (error instanceof Refusal) return error.message
  request.log.error({ err: error, reqId: request.id }, 'request failed')
  return outageOf(error)?.message ?? 'Internal server error'
}
