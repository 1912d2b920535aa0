import type { FastifyRequest } from 'fastify'
import type { WebRoutes } from '../../../api/server.ts'
import { sendPage } from '../../identity/page.ts'
import { readForm } from '../../identity/sessions/forms.ts'
import { askPage, deadPage, donePage } from './pages.ts'
import { findUnsubscription } from './unsubscribing.ts'

const PATH = '/-/unsubscribe/:token'

const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token

/**
 * GET only asks for confirmation, because mail programs open links on their own. POST unsubscribes at once, from any
 * origin (RFC 8058): the link alone is enough.
 */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get(PATH, async (request, reply) => {
    const found = await findUnsubscription(app, tokenOf(request))
    if (!found) return sendPage(reply, 404, deadPage)
    return sendPage(reply, 200, askPage({ what: found.what, username: found.user.username }))
  })

  server.post(PATH, async (request, reply) => {
    await readForm(gateway, request)
    const found = await findUnsubscription(app, tokenOf(request))
    if (!found) return sendPage(reply, 404, deadPage)
    await found.carryOut()
    return sendPage(reply, 200, donePage({ what: found.what, username: found.user.username }))
  })
}
