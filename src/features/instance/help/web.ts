import { readFile } from 'node:fs/promises'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { DOCUMENTATION } from '../../../version.ts'
import { documentation } from './documentation.ts'
import { HELP } from './rendering.ts'

/** Serves the images of the documentation by file name. */
export const routes: WebRoutes = (server) => {
  server.get<{ Params: { file: string } }>(`${HELP}/pictures/:file`, async (request, reply) => {
    const path = `pictures/${request.params.file}`
    if (!(await documentation()).pictures.has(path)) return send(request, reply, 404, UNKNOWN_ROUTE)
    return reply
      .header('Content-Type', 'image/png')
      .header('Cache-Control', 'max-age=86400')
      .send(await readFile(new URL(path, DOCUMENTATION)))
  })
}
