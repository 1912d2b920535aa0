import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import type { Gateway } from '../../../api/run.ts'
import type { ProjectPage, WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { isReservedAtTop } from '../../../lib/paths.ts'
import { decodeSegments } from '../../../lib/segments.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { serveUpload } from '../uploads/serving.ts'
import { findProject } from './queries.ts'
import { destinationOf, findRedirect } from './redirects.ts'

/** Addresses that begin with a path of somebody's: whatever no other route takes. */
export const routes: WebRoutes = (server, gateway, { projectPages }) => {
  server.get('/*', async (request, reply) => {
    const segments = segmentsOf(request)
    if (!segments || isReservedAtTop(segments[0]!)) return send(request, reply, 404, UNKNOWN_ROUTE)
    return (
      (await uploadAt(gateway, request, reply, segments)) ??
      (await pageAt(gateway, request, reply, segments, projectPages)) ??
      (await redirectFrom(gateway, request, reply, segments)) ??
      send(request, reply, 404, UNKNOWN_ROUTE)
    )
  })
}

const rawSegments = ({ raw }: FastifyRequest) => raw.url!.split(/[?#]/, 1)[0]!.split('/').filter(Boolean)

// oxlint-disable-next-line no-control-regex -- it is about them
const MISLEADING = /^\.\.?$|[\\\0-\x1f\x7f]/

function segmentsOf({ raw }: FastifyRequest): string[] | null {
  const segments = decodeSegments(raw.url!)
  return segments?.length && !segments.some((segment) => MISLEADING.test(segment)) ? segments : null
}

async function uploadAt(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  segments: readonly string[],
): Promise<FastifyReply | null> {
  const [uploads, secret, filename] = segments.slice(-3)
  if (uploads !== 'uploads' || segments.length < 5) return null
  const project = await findProject(gateway.app.db, segments.slice(0, -3).join('/'))
  return project && serveUpload(gateway, request, reply, project, secret!, filename!)
}

async function pageAt(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  segments: readonly string[],
  pages: readonly ProjectPage[],
): Promise<FastifyReply | null> {
  // A path has two segments or more.
  const dash = segments.indexOf('-', 2)
  const at = dash < 0 ? segments.findIndex((name, n) => n > 1 && pages.some((page) => page.name === name)) : dash + 1
  const page = pages.find(({ name }) => name === segments[at])
  const path = segments.slice(0, dash < 0 ? at : dash).join('/')
  const project = page ? await findProject(gateway.app.db, path) : null
  return project && page!.serve(gateway, request, reply, project, segments.slice(at + 1))
}

async function redirectFrom(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  segments: readonly string[],
): Promise<FastifyReply | null> {
  const redirect = await findRedirect(gateway.app.db, segments)
  if (!redirect) return null
  const destination = await destinationOf(gateway.app, await webViewer(gateway, request), redirect)
  if (destination === null) return null
  const rest = rawSegments(request).slice(redirect.path.split('/').length)
  const [, query] = /(\?.*)?$/.exec(request.raw.url!)!
  return reply.redirect(`/${[destination, ...rest].join('/')}${query ?? ''}`, 302)
}
