/**
 * URLs inside a repository: `/<path>.git/…`. Git defines their bodies, so only the handler reads them. Session cookies
 * do not count here.
 */
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { UNKNOWN_ROUTE } from '../api/answers.ts'
import type { Gateway } from '../api/run.ts'
import type { WebRoutes } from '../api/server.ts'
import { send } from '../api/web-answers.ts'
import { decodeSegments } from '../lib/text/segments.ts'
import { gitRoutes } from './git-routes.ts'
import { isLfsAddress, lfsRoutes } from './lfs/web.ts'

/** Pages of a project may have any path. Only these belong to git and LFS. */
const INSIDE = /^[^?]+\.git\/(info|gitlab-lfs|git-upload-pack|git-receive-pack)([/?]|$)/i
/** Git requests this URL if its user has omitted the extension. */
const WITHOUT_ENDING = /\/info\/refs\?service=git-(upload|receive)-pack$/i

const isInside = (url: string) => INSIDE.test(url) || WITHOUT_ENDING.test(url)

export const routes: WebRoutes = (server, gateway) => {
  // The same wildcard as the route of the pages. The whole URL decides which route gets the request.
  server.addConstraintStrategy({
    name: 'repository',
    storage() {
      const handlers = new Map()
      return { get: (where) => handlers.get(where) ?? null, set: (where, handler) => void handlers.set(where, handler) }
    },
    deriveConstraint: ({ url }) => (isInside(url!) ? 'inside' : undefined),
  })
  const handler: RouteHandlerMethod = (request, reply) => serve(gateway, request, reply)
  // Pushes, uploads and locks are refused in read-only mode by `access.ts`.
  const config = { name: '/:repository.git/*', readsOnly: true }
  server.route({ method: ['GET', 'POST', 'PUT'], url: '/*', constraints: { repository: 'inside' }, config, handler })
}

async function serve(gateway: Gateway, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [path, query] = request.raw.url!.split('?', 2) as [string, string | undefined]
  const segments = decodeSegments(path)
  if (!segments) return send(request, reply, 404, UNKNOWN_ROUTE)
  const at = segments.findIndex((segment) => /\.git$/i.test(segment))
  if (at < 0) return withEnding(request, reply, path, query)
  const address = { path: segments.slice(0, at + 1).join('/'), rest: segments.slice(at + 1).join('/') }
  return (isLfsAddress(address) ? lfsRoutes : gitRoutes)(gateway, request, reply, address)
}

function withEnding(request: FastifyRequest, reply: FastifyReply, path: string, query = ''): FastifyReply {
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(request, reply, 404, UNKNOWN_ROUTE)
  const repository = path.split('/').filter(Boolean).slice(0, -2).join('/')
  return reply.redirect(`/${repository}.git/info/refs?${query}`, 301)
}
