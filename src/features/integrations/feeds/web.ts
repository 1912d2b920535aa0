import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import { readQuery } from '../../../api/input.ts'
import { isForPeople, type PageContent, type WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { decodeSegments } from '../../../lib/text/segments.ts'
import { dashboardActivity, dashboardIssues, groupIssues } from './feeds.ts'
import { serveFeed } from './pages.ts'

const answer = (request: FastifyRequest, reply: FastifyReply, page: PageContent | null) =>
  page
    ? reply
        .code(page.status ?? 200)
        .headers(page.headers)
        .send(page.body)
    : send(request, reply, 404, UNKNOWN_ROUTE)

/** The group of `/groups/some/group/-/issues.atom`. */
function groupOf(request: FastifyRequest): string | null {
  const segments = decodeSegments(request.raw.url!)?.slice(1) ?? []
  const last = segments.at(-1)
  const isFeed = last === 'issues.atom' || (last === 'issues' && readQuery(request.raw.url!).format === 'atom')
  const path = segments.slice(0, segments.at(-2) === '-' ? -2 : -1)
  return isFeed && path.length > 0 ? path.join('/') : null
}

/** Feeds whose URLs begin with a reserved name. */
export const routes: WebRoutes = (server, gateway, { pages }) => {
  for (const path of ['/dashboard/projects.atom', '/dashboard.atom', '/dashboard/activity.atom'])
    server.get(path, async (request, reply) =>
      answer(
        request,
        reply,
        await serveFeed(gateway, request, (app, feedRequest) => dashboardActivity(app, feedRequest)),
      ),
    )
  server.get('/dashboard/issues.atom', async (request, reply) =>
    answer(request, reply, await serveFeed(gateway, request, (app, feedRequest) => dashboardIssues(app, feedRequest))),
  )
  server.get('/groups/*', async (request, reply) => {
    const path = groupOf(request)
    if (path !== null)
      return answer(
        request,
        reply,
        await serveFeed(gateway, request, (app, feedRequest) => groupIssues(app, feedRequest, path)),
      )
    if (!isForPeople(request)) return answer(request, reply, null)
    return answer(request, reply, (await pages.show(request, reply)) ?? (await pages.missing(request, reply, 404)))
  })
}
