import type { FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import type { Gateway } from '../../../api/run.ts'
import type { PageContent, ProjectPage, WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { isReservedAtTop } from '../../../lib/paths.ts'
import { decodeSegments } from '../../../lib/segments.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { serveUpload, type UploadAddress } from '../uploads/serving.ts'
import { findProject } from './queries.ts'
import { destinationOf, findRedirect } from './redirects.ts'

/** Addresses that begin with a path of somebody's: whatever no other route takes. */
export const routes: WebRoutes = (server, gateway, { projectPages }) => {
  server.get('/*', async (request, reply) => {
    const segments = segmentsOf(request)
    if (!segments || isReservedAtTop(segments[0]!)) return send(request, reply, 404, UNKNOWN_ROUTE)
    // A reply is a promise of its own end: awaited, it would be sent and then seem to be nothing.
    const upload = await uploadAt(gateway, segments)
    if (upload) return serveUpload(gateway, request, reply, upload)
    const page = await pageAt(gateway, request, segments, projectPages)
    if (page)
      return reply
        .code(page.status ?? 200)
        .headers(page.headers)
        .send(page.body)
    const location = await redirectFrom(gateway, request, segments)
    return location === null ? send(request, reply, 404, UNKNOWN_ROUTE) : reply.redirect(location, 302)
  })
}

const rawSegments = ({ raw }: FastifyRequest) => raw.url!.split(/[?#]/, 1)[0]!.split('/').filter(Boolean)

// oxlint-disable-next-line no-control-regex -- it is about them
const MISLEADING = /^\.\.?$|[\\\0-\x1f\x7f]/

function segmentsOf({ raw }: FastifyRequest): string[] | null {
  const segments = decodeSegments(raw.url!)
  return segments?.length && !segments.some((segment) => MISLEADING.test(segment)) ? segments : null
}

async function uploadAt({ app }: Gateway, segments: readonly string[]): Promise<UploadAddress | null> {
  const [uploads, secret, filename] = segments.slice(-3)
  if (uploads !== 'uploads' || segments.length < 5) return null
  const project = await findProject(app.db, segments.slice(0, -3).join('/'))
  return project && { project, secret: secret!, filename: filename! }
}

async function pageAt(
  gateway: Gateway,
  request: FastifyRequest,
  segments: readonly string[],
  pages: readonly ProjectPage[],
): Promise<PageContent | null> {
  // A path has two segments or more.
  const dash = segments.indexOf('-', 2)
  const at = dash < 0 ? segments.findIndex((name, n) => n > 1 && pages.some((page) => page.name === name)) : dash + 1
  const page = pages.find(({ name }) => name === segments[at])
  const path = segments.slice(0, dash < 0 ? at : dash).join('/')
  const project = page ? await findProject(gateway.app.db, path) : null
  return project && page!.find(gateway, request, project, segments.slice(at + 1))
}

async function redirectFrom(
  gateway: Gateway,
  request: FastifyRequest,
  segments: readonly string[],
): Promise<string | null> {
  const redirect = await findRedirect(gateway.app.db, segments)
  if (!redirect) return null
  const destination = await destinationOf(gateway.app, await webViewer(gateway, request), redirect)
  if (destination === null) return null
  const rest = rawSegments(request).slice(redirect.path.split('/').length)
  const [, query] = /(\?.*)?$/.exec(request.raw.url!)!
  return `/${[destination, ...rest].join('/')}${query ?? ''}`
}
