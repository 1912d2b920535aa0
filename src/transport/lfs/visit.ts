/** One request to the LFS server of a project, and whether it may go on. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KNOWN_BODY, STRANGERS_BODY, assertPlain, readBody, readQuery, type Raw } from '../../api/input.ts'
import type { Gateway } from '../../api/run.ts'
import { learnFacts, denialOf, type Facts } from '../access.ts'
import { accessDenied, recogniseGitter } from '../credentials.ts'
import type { Gitter } from '../gitter.ts'
import { findRepository, type RepositoryPlace } from '../places.ts'
import { accessForbidden, objectNotFound } from './answers.ts'

export interface Visit {
  readonly gateway: Gateway
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly gitter: Gitter
  readonly place: RepositoryPlace
}

export async function meetVisitor(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<Visit> {
  const visitor = { authorization: request.headers.authorization, address: request.ip }
  const gitter = await recogniseGitter(gateway.app, visitor, 'lfs')
  const place = await findRepository(gateway.app, path)
  if (!place || place.wiki) throw gitter.via === 'nothing' ? accessDenied() : objectNotFound()
  return { gateway, request, reply, gitter, place }
}

/** Refuses in the words of LFS whoever git would refuse in its own. */
export async function admit({ gateway, gitter, place }: Visit, verb: Facts['verb']): Promise<Facts> {
  const facts = await learnFacts(gateway.app, gitter, place, { verb, over: 'lfs' })
  const denial = denialOf(facts)
  if (denial?.kind === 'unauthenticated') throw denial
  if (denial) throw denial.kind === 'not_found' ? objectNotFound() : accessForbidden()
  if (!place.project.lfs_enabled) throw accessForbidden()
  return facts
}

export async function readJson({ gateway, request, gitter }: Visit): Promise<Raw> {
  const limits = gitter.via === 'nothing' ? STRANGERS_BODY : KNOWN_BODY
  const { fields, discard } = await readBody(request.raw, gateway.spool, limits)
  await discard()
  assertPlain(fields)
  return fields
}

export function readParameters({ request }: Visit): Raw {
  const query = readQuery(request.raw.url!)
  assertPlain(query)
  return query
}
