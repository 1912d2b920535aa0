/** One request to the LFS server of a project, and its access check. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KNOWN_BODY, STRANGERS_BODY, assertPlain, readBody, readQuery, type Raw } from '../../api/input.ts'
import type { Gateway } from '../../api/run.ts'
import { learnFacts, denialOf, type Facts } from '../access.ts'
import { accessDenied, authenticatePrincipal } from '../credentials.ts'
import type { Principal } from '../principal.ts'
import { findRepository, type RepositoryLocation } from '../locations.ts'
import { accessForbidden, objectNotFound } from './answers.ts'

export interface LfsSession {
  readonly gateway: Gateway
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly principal: Principal
  readonly location: RepositoryLocation
}

export async function openLfsSession(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<LfsSession> {
  const visitor = { authorization: request.headers.authorization, address: request.ip }
  const principal = await authenticatePrincipal(gateway.app, visitor, 'lfs')
  const location = await findRepository(gateway.app, path)
  if (!location || location.wiki) throw principal.via === 'nothing' ? accessDenied() : objectNotFound()
  return { gateway, request, reply, principal, location }
}

/** Rejects with LFS messages whatever git would reject with its own. */
export async function admit({ gateway, principal, location }: LfsSession, verb: Facts['verb']): Promise<Facts> {
  const facts = await learnFacts(gateway.app, principal, location, { verb, over: 'lfs' })
  const denial = denialOf(facts)
  if (denial?.kind === 'unauthenticated' || denial?.facts.reason === 'read_only') throw denial
  if (denial) throw denial.kind === 'not_found' ? objectNotFound() : accessForbidden()
  if (!location.project.lfs_enabled) throw accessForbidden()
  return facts
}

export async function readJson({ gateway, request, principal }: LfsSession): Promise<Raw> {
  const limits = principal.via === 'nothing' ? STRANGERS_BODY : KNOWN_BODY
  const { fields, discard } = await readBody(request.raw, gateway.spool, limits)
  await discard()
  assertPlain(fields)
  return fields
}

export function readParameters({ request }: LfsSession): Raw {
  const query = readQuery(request.raw.url!)
  assertPlain(query)
  return query
}
