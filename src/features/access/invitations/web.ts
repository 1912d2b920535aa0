import type { FastifyRequest } from 'fastify'
import type { WebRoutes } from '../../../api/server.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { sendPage } from '../../identity/page.ts'
import { signedInOn } from '../../identity/sessions/authenticate.ts'
import { formToken, onForm } from '../../identity/sessions/forms.ts'
import { nameSource } from '../members/queries.ts'
import { acceptPage, acceptedPage, closedPage, deadInvitationPage, signInFirstPage } from './pages.ts'
import { findInvitationByToken } from './queries.ts'
import { acceptInvitation } from './service.ts'

const PATH = '/-/invites/:token'

const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token

async function invited(app: App, request: FastifyRequest) {
  const invitation = await findInvitationByToken(app, tokenOf(request))
  const source = invitation && (await nameSource(app, invitation))
  return source && { invitation, source, address: `/-/invites/${encodeURIComponent(tokenOf(request))}` }
}

/**
 * Target of the mailed invitation links. Opening a link changes nothing, because mail programs open links on their own.
 */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get(PATH, async (request, reply) => {
    const found = await invited(app, request)
    if (!found) return sendPage(reply, 404, deadInvitationPage)
    const { invitation, source, address } = found
    const { access_level } = invitation
    const user = await signedInOn(app, request)
    if (!user) return sendPage(reply, 200, signInFirstPage({ source, access_level, address }))
    const token = formToken(app, request, reply)
    return sendPage(reply, 200, acceptPage({ source, access_level, address, token, username: user.username }))
  })

  onForm(server, gateway, PATH, async (_form, request, reply) => {
    const found = await invited(app, request)
    if (!found) return sendPage(reply, 404, deadInvitationPage)
    const { invitation, source, address } = found
    const user = await signedInOn(app, request)
    if (!user) return reply.redirect(address, 303)
    try {
      const isIn = await acceptInvitation(app, invitation, user)
      return isIn ? sendPage(reply, 200, acceptedPage(source)) : sendPage(reply, 404, deadInvitationPage)
    } catch (error) {
      if (error instanceof Refusal) return sendPage(reply, 403, closedPage(source))
      throw error
    }
  })
}
