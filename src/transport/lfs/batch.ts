import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { pathWithNamespace } from '../../features/projects/projects/queries.ts'
import { findLfsObjects, type LfsObject } from '../../features/repository/lfs/queries.ts'
import type { Principal } from '../principal.ts'
import type { RepositoryLocation } from '../locations.ts'
import { objectNotFound, sendLfs } from './answers.ts'
import { lfsAuthorization, lifeOf, type Operation } from './token.ts'
import { admit, readJson, type LfsSession } from './session.ts'

/** Clients request a hundred objects at a time. */
const MOST_OBJECTS = 1000
const NO_OBJECT = "Object does not exist on the server or you don't have permissions to access it"

export const OID = /^[0-9a-f]{64}$/

const Batch = z.object({
  operation: z.enum(['download', 'upload']),
  objects: z.array(z.object({ oid: z.string(), size: z.number() })).min(1),
  hash_algo: z.string().nullish(),
})

interface RequestContext {
  readonly oid: string
  readonly size: number
}

/** Answers which of these objects can be downloaded or must be uploaded, and where. */
export async function batch(session: LfsSession): Promise<FastifyReply> {
  const { gateway, reply, principal, location } = session
  const input = Batch.safeParse(await readJson(session))
  if (!input.success) throw principal.via === 'nothing' ? await challenge(session) : objectNotFound()
  const { operation, objects, hash_algo } = input.data
  await admit(session, operation === 'upload' ? 'push' : 'fetch')
  if (objects.length > MOST_OBJECTS) throw new Refusal('too_large', 'Too many objects in one request')
  if (hash_algo && hash_algo !== 'sha256') throw new Refusal('conflict', 'Only sha256 is supported')

  const oids = new Set(objects.map(({ oid }) => oid).filter((oid) => OID.test(oid)))
  const known = await findLfsObjects(gateway.app.db, location.project.id, [...oids])
  const answer = { app: gateway.app, principal, location, operation }
  return sendLfs(reply, 200, {
    transfer: 'basic',
    objects: objects.map((object) => presentObject(answer, object, known.get(object.oid))),
    hash_algo: 'sha256',
  })
}

/** An invalid request answers 404, but an anonymous caller may get a challenge first. */
async function challenge(session: LfsSession): Promise<Refusal> {
  await admit(session, 'fetch')
  return objectNotFound()
}

interface Answer {
  readonly app: App
  readonly principal: Principal
  readonly location: RepositoryLocation
  readonly operation: Operation
}

function presentObject(answer: Answer, { oid, size }: RequestContext, known: LfsObject | undefined): object {
  if (!OID.test(oid) || !Number.isSafeInteger(size) || size < 0) {
    return { oid, size, error: { code: 422, message: 'Invalid object id or size' } }
  }
  if (answer.operation === 'upload') {
    return known ? { oid, size } : { oid, size, actions: { upload: action(answer, `${oid}/${size}`) } }
  }
  if (!known) return { oid, size, error: { code: 404, message: NO_OBJECT } }
  const isPublic = answer.location.project.visibility === 'public'
  return {
    oid,
    size: known.size,
    ...(isPublic && { authenticated: true }),
    actions: { download: action(answer, oid) },
  }
}

function action({ app, principal, location, operation }: Answer, name: string): object {
  const authorization = lfsAuthorization(app, principal, location.project, operation)
  return {
    href: `${repositoryUrl(app, location)}/gitlab-lfs/objects/${name}`,
    header: {
      ...(authorization !== null && { Authorization: authorization }),
      ...(operation === 'upload' && { 'Content-Type': 'application/octet-stream' }),
    },
    expires_in: lifeOf(app, principal),
  }
}

const repositoryUrl = ({ url }: App, { project, namespace }: RepositoryLocation): string =>
  `${url}/${pathWithNamespace(project, namespace)}.git`

/** The answer of `git-lfs-authenticate` over SSH. Null if the caller may not get a token. */
export function lfsTokenFor(
  app: App,
  principal: Principal,
  location: RepositoryLocation,
  operation: Operation,
): { header: { Authorization: string }; href: string; expires_in: number } | null {
  const authorization = lfsAuthorization(app, principal, location.project, operation)
  if (authorization === null) return null
  const href = `${repositoryUrl(app, location)}/info/lfs/`
  return { header: { Authorization: authorization }, href, expires_in: lifeOf(app, principal) }
}
