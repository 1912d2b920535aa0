import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openApiDocument } from '../../../api/openapi.ts'
import type { WebRoutes } from '../../../api/server.ts'
import { VERSION } from '../../../version.ts'

/** The page asks nobody but us: Swagger UI's own files, served from here. */
const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mortise API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<div id="docs"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</html>
`

const START = `SwaggerUIBundle({
  url: '/api/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null,
  docExpansion: 'none', filter: true, persistAuthorization: false,
})
`

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const routes: WebRoutes = (server, _gateway, { families }) => {
  let document: string | null = null
  server.get('/api/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(families, VERSION))
    return reply.header('Content-Type', 'application/json').send(document)
  })
  server.get('/api/docs', (_request, reply) =>
    reply.header('Content-Type', 'text/html; charset=utf-8').header('Content-Security-Policy', POLICY).send(PAGE),
  )
  server.get('/api/docs/start.js', (_request, reply) =>
    reply.header('Content-Type', 'text/javascript; charset=utf-8').send(START),
  )
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  for (const [name, type] of Object.entries(FILES)) {
    server.get(`/api/docs/${name}`, async (_request, reply) =>
      reply
        .header('Content-Type', type)
        .header('Cache-Control', 'max-age=86400')
        .send(await readFile(join(folder, name))),
    )
  }
}
