import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import { isForPeople, type WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { decodeSegments } from '../../../lib/text/segments.ts'
import { findRaw } from './pages.ts'

/** `/snippets/1/raw`, `/-/snippets/1/raw/main/some/file.txt`: personal or of a project. */
export const routes: WebRoutes = (server, gateway, { pages }) => {
  for (const [path, depth] of [
    ['/snippets/*', 1],
    ['/-/snippets/*', 2],
  ] as const) {
    server.get(path, async (request, reply) => {
      const rest = decodeSegments(request.raw.url!)?.slice(depth) ?? []
      const raw = await findRaw(gateway, request, rest)
      if (raw) return reply.headers(raw.headers).send(raw.body)
      const page = isForPeople(request)
        ? ((await pages.show(request, reply)) ?? (await pages.missing(request, reply, 404)))
        : null
      if (!page) return send(request, reply, 404, UNKNOWN_ROUTE)
      return reply
        .code(page.status ?? 200)
        .headers(page.headers)
        .send(page.body)
    })
  }
}
