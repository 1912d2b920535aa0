import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerTo } from '../../api/answers.ts'
import type { App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { textOf } from '../answers.ts'

const TYPE = 'application/vnd.git-lfs+json'

export function sendLfs(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .header('Content-Type', TYPE)
    .send(Buffer.from(JSON.stringify(body)))
}

export const fault = ({ url }: App, message: string) => ({ message, documentation_url: `${url}/api/docs` })

export function sendLfsError(app: App, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, headers } = answerTo(error)
  if (headers) reply.headers(headers)
  // LFS clients look for the challenge in this header first.
  if (headers?.['WWW-Authenticate']) reply.header('LFS-Authenticate', headers['WWW-Authenticate'])
  return sendLfs(reply, status, fault(app, textOf(request, error)))
}

export const objectNotFound = () => new Refusal('not_found', 'Not found.')
export const accessForbidden = () => new Refusal('forbidden', 'Access forbidden. Check your access level.')
