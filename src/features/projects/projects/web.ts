import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import type { Gateway } from '../../../api/run.ts'
import { isForPeople, isForm, type PageContent, type ProjectPage, type WebRoutes } from '../../../api/server.ts'
import { send as sendJson } from '../../../api/web-answers.ts'
import { isReservedAtTop } from '../../../lib/files/paths.ts'
import { decodeSegments } from '../../../lib/text/segments.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { findVisibleUpload, sendUpload, type UploadAddress } from '../uploads/serving.ts'
import { goPage } from '../paths/go-get.ts'
import { findProject } from './queries.ts'
import { destinationOf, findRedirect } from '../paths/redirects.ts'

/** URLs that start with the path of a user, group or project: everything that no other route matches. */
export const routes: WebRoutes = (server, gateway, { projectPages, addressPages, pages }) => {
  // Fastify's reply is thenable: awaiting it would send the answer and then return undefined.
  const send = (reply: FastifyReply, { status = 200, headers, body }: PageContent) =>
    reply.code(status).headers(headers).send(body)
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const missing = isForPeople(request) ? await pages.missing(request, reply, 404) : null
    return missing ? send(reply, missing) : sendJson(request, reply, 404, UNKNOWN_ROUTE)
  }

  server.get('/', async (request, reply) => {
    const page = await pages.show(request, reply)
    return page ? send(reply, page) : sendJson(request, reply, 404, UNKNOWN_ROUTE)
  })

  server.get('/*', async (request, reply) => {
    const segments = segmentsOf(request)
    if (!segments) return refuse(request, reply)
    const showPage = async () => (isForPeople(request) ? pages.show(request, reply) : null)
    if (isReservedAtTop(segments[0]!)) {
      const page = await showPage()
      return page ? send(reply, page) : refuse(request, reply)
    }
    const go = await goPage(gateway, request, segments)
    if (go) return send(reply, go)
    const address = await uploadAt(gateway, segments)
    const upload = address && (await findVisibleUpload(gateway, request, address))
    if (upload) return sendUpload(gateway.app, request, reply, upload)
    const page =
      (await pageAt(gateway, request, reply, segments, projectPages)) ??
      (await firstOf(addressPages, (page) => page(gateway, request, segments))) ??
      (await showPage())
    if (page && page.status !== 404) return send(reply, page)
    const location = await redirectFrom(gateway, request, segments)
    if (location !== null) return reply.redirect(location, 302)
    return page ? send(reply, page) : refuse(request, reply)
  })

  const act = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = isForm(request) ? await pages.act(request, reply) : null
    return page ? send(reply, page) : sendJson(request, reply, 404, UNKNOWN_ROUTE)
  }
  // An action of a page is a call of the API, which is refused in read-only mode.
  const config = { readsOnly: true }
  server.post('/', { config }, act)
  server.post('/*', { config }, act)
}

async function firstOf<T, R>(all: readonly T[], ask: (one: T) => Promise<R | null>): Promise<R | null> {
  for (const one of all) {
    const found = await ask(one)
    if (found) return found
  }
  return null
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
  reply: FastifyReply,
  segments: readonly string[],
  pages: readonly ProjectPage[],
): Promise<PageContent | null> {
  // A path has at least two segments.
  const dash = segments.indexOf('-', 2)
  const at = dash < 0 ? segments.findIndex((name, n) => n > 1 && pages.some((page) => page.name === name)) : dash + 1
  const page = pages.find(({ name }) => name === segments[at])
  const path = segments.slice(0, dash < 0 ? at : dash).join('/')
  const project = page ? await findProject(gateway.app.db, path) : null
  return project && page!.find(gateway, request, project, segments.slice(at + 1), reply.raw)
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
