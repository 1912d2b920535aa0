import type { FastifyReply } from 'fastify'
import { openApiDocument } from '../../../api/openapi.ts'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { VERSION } from '../../../version.ts'
import { docsPages, STYLE, type OpenApi } from './page.ts'

const POLICY = ["default-src 'none'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"].join('; ')

export const routes: WebRoutes = (server, { app }, { families, webhooks }) => {
  let document: string | null = null
  let pages: Map<string, string> | null = null
  // Created on first request: most instances never need it.
  const openApi = async () => (document ??= JSON.stringify(openApiDocument(families, VERSION, await webhooks())))
  const sendPage = (reply: FastifyReply, page: string) =>
    reply.header('Content-Type', 'text/html; charset=utf-8').header('Content-Security-Policy', POLICY).send(page)

  server.get('/api/openapi.json', async (_request, reply) =>
    reply.header('Content-Type', 'application/json').send(await openApi()),
  )
  server.get('/api/docs/style.css', (_request, reply) =>
    reply.header('Content-Type', 'text/css; charset=utf-8').header('Cache-Control', 'max-age=86400').send(STYLE),
  )
  for (const path of ['/api/docs', '/api/docs/:page']) {
    server.get<{ Params: { page?: string } }>(path, async (request, reply) => {
      pages ??= docsPages(JSON.parse(await openApi()) as OpenApi, app.url)
      const page = pages.get(request.params.page ?? '')
      return page === undefined ? send(request, reply, 404, UNKNOWN_ROUTE) : sendPage(reply, page)
    })
  }
}
