/** The Git LFS server: `/<path>.git/info/lfs/…` and, for content, `/<path>.git/gitlab-lfs/…`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gateway } from '../../api/run.ts'
import type { RepositoryAddress } from '../locations.ts'
import { fault, objectNotFound, sendLfs, sendLfsError } from './answers.ts'
import { batch } from './batch.ts'
import { download, upload } from './content.ts'
import * as locks from './locks.ts'
import { openLfsSession, type LfsSession } from './session.ts'

type Handler = (session: LfsSession, first: string, second: string) => Promise<FastifyReply>

const ROUTES: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['POST', /^info\/lfs\/objects\/batch$/, batch],
  ['POST', /^info\/lfs\/objects$/, oldProtocol],
  ['GET', /^info\/lfs\/objects\/([^/]+)$/, oldProtocol],
  ['POST', /^info\/lfs\/locks$/, locks.create],
  ['GET', /^info\/lfs\/locks$/, locks.list],
  ['POST', /^info\/lfs\/locks\/verify$/, locks.verify],
  ['POST', /^info\/lfs\/locks\/(\d{1,15})\/unlock$/, (session, id) => locks.unlock(session, Number(id))],
  ['GET', /^gitlab-lfs\/objects\/([0-9a-f]{64})$/, download],
  [
    'PUT',
    /^gitlab-lfs\/objects\/([0-9a-f]{64})\/(\d{1,15})$/,
    (session, oid, size) => upload(session, oid, Number(size)),
  ],
]

async function oldProtocol({ gateway, reply }: LfsSession): Promise<FastifyReply> {
  return sendLfs(reply, 501, fault(gateway.app, 'Server supports batch API only, please update your Git LFS client'))
}

export const isLfsAddress = ({ rest }: RepositoryAddress): boolean => /^(info\/lfs|gitlab-lfs)(\/|$)/.test(rest)

export async function lfsRoutes(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  { path, rest }: RepositoryAddress,
): Promise<FastifyReply> {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  try {
    const [, form, handler] = ROUTES.find(([verb, form]) => verb === method && form.test(rest)) ?? []
    if (!form || !handler) throw objectNotFound()
    const [, first = '', second = ''] = form.exec(rest)!
    return await handler(await openLfsSession(gateway, request, reply, path), first, second)
  } catch (error) {
    return sendLfsError(gateway.app, request, reply, error)
  }
}
