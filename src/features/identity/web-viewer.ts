import type { FastifyRequest } from 'fastify'
import { scopesOf, presentedCredential } from '../../api/credentials.ts'
import { noteUser } from '../../api/exchange.ts'
import { readQuery } from '../../api/input.ts'
import type { Gateway } from '../../api/run.ts'
import type { User } from '../../context.ts'
import { unauthenticated } from '../../errors.ts'

const OPENING = scopesOf({ method: 'GET' })

/**
 * The viewer of a page or file: by the session, or by a token that could read the same through the API. An invalid
 * token is rejected, as in the API. A token with other scopes, or of a CI job, gives an anonymous viewer.
 */
export async function webViewer(
  { app, authentication }: Pick<Gateway, 'app' | 'authentication'>,
  request: FastifyRequest,
): Promise<User | null> {
  const shown = presentedCredential(request, readQuery(request.raw.url!))
  if (!shown) return null
  const identity = await authentication.identify(app, shown, request.ip)
  noteUser(request.raw, identity?.user ?? null)
  if (!identity && shown.as !== 'session') throw unauthenticated()
  const mayRead = identity?.scopes?.some((scope) => OPENING.includes(scope)) ?? true
  return identity && !identity.requiredStep && identity.kind !== 'job' && mayRead ? identity.user : null
}
