/** Scripts, styles and images of the pages. Their names contain a digest, so a browser requests them once. */
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { WebRoutes } from '../api/server.ts'
import { UNKNOWN_ROUTE } from '../api/answers.ts'
import { send } from '../api/web-answers.ts'
import { built, loadRenderer } from './renderer.ts'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const PACKINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
const WITHOUT_DIGEST = /^(icon\.svg|sign-in\.js)$/

type Files = ReadonlyMap<string, Buffer>

let files: Promise<Files> | undefined

async function readFiles(): Promise<Files> {
  await loadRenderer()
  const folder = join(built, 'assets')
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]))
}

export const routes: WebRoutes = (server) => {
  server.get('/robots.txt', async (_request, reply) => {
    const all = await (files ??= readFiles())
    return reply.header('Content-Type', 'text/plain; charset=utf-8').send(all.get('robots.txt'))
  })

  server.get<{ Params: { file: string } }>('/-/assets/:file', async (request, reply) => {
    const all = await (files ??= readFiles())
    const { file } = request.params
    const type = TYPES[extname(file)]
    const plain = type ? all.get(file) : undefined
    if (!type || !plain) return send(request, reply, 404, UNKNOWN_ROUTE)
    const accepted = String(request.headers['accept-encoding'] ?? '')
    const packing = PACKINGS.find(([name, end]) => accepted.includes(name) && all.has(file + end))
    if (packing) reply.header('Content-Encoding', packing[0])
    return reply
      .header('Content-Type', type)
      .header('Vary', 'Accept-Encoding')
      .header('Cache-Control', WITHOUT_DIGEST.test(file) ? 'max-age=3600' : 'max-age=31536000, immutable')
      .send(packing ? all.get(file + packing[1]) : plain)
  })
}
