import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Raw } from '../../../api/input.ts'
import type { WebRoutes } from '../../../api/server.ts'
import type { User } from '../../../context.ts'
import { html } from '../../../lib/text/html.ts'
import { sendPage, type Page } from '../../identity/page.ts'
import { signedInOn } from '../../identity/sessions/authenticate.ts'
import { formToken, onForm, queryOf, textOf, tokenField } from '../../identity/sessions/forms.ts'
import { PAGE, authorizeChatter, chatterOf, type Chatter } from './names.ts'
import { scopeOfService } from './queries.ts'

interface RequestContext {
  user: User
  token: string
  chatter: Chatter
  path: string
}

const EXPIRED: Page = {
  title: 'Account not connected',
  body: html`<p role="alert">This link is no longer valid. Request a new link in the chat.</p>`,
}

const done = (text: string): Page => ({ title: text, body: html`<p>You can go back to the chat.</p>` })

function questionPage(proof: string, { user, token, chatter, path }: RequestContext): Page {
  const who = chatter.chat_name ?? chatter.chat_id
  return {
    title: 'Connect a chat account?',
    body: html`<p>You are signed in as <strong>${user.username}</strong>.</p>
      <p>
        The chat user <strong>${who}</strong> in the team
        <strong>${chatter.team_domain ?? chatter.team_id}</strong> will be able to act as you in
        <strong>${path}</strong>: create and edit issues, deploy, run jobs.
      </p>
      <p class="quiet">Continue only if this is your chat account and you requested this link.</p>
      <form method="post" action="${PAGE}">
        ${tokenField(proof)}<input type="hidden" name="token" value="${token}" />
        <button>Connect</button>
        <button class="quiet" name="_method" value="delete">Deny</button>
      </form>`,
  }
}

/** The page where a chat user links an account. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  async function withRequest(
    given: Raw,
    request: FastifyRequest,
    reply: FastifyReply,
    answer: (context: RequestContext) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const token = textOf(given, 'token') ?? ''
    const chatter = chatterOf(app, token)
    const found = chatter && (await scopeOfService(app, chatter.service_id))
    if (!found) return sendPage(reply, 400, EXPIRED)
    const user = await signedInOn(app, request)
    const back = `${PAGE}?${new URLSearchParams({ token })}`
    if (!user) return reply.redirect(`/users/sign_in?${new URLSearchParams({ return_to: back })}`, 303)
    return answer({ user, token, chatter, path: found.path })
  }

  server.get(PAGE, (request, reply) =>
    withRequest(queryOf(request), request, reply, async (question) =>
      sendPage(reply, 200, questionPage(formToken(app, request, reply), question)),
    ),
  )

  onForm(server, gateway, PAGE, (form, request, reply) =>
    withRequest(form, request, reply, async ({ user, chatter }) => {
      if (textOf(form, '_method') === 'delete') return sendPage(reply, 200, done('Denied'))
      const isKept = await authorizeChatter(app, user, chatter)
      return isKept ? sendPage(reply, 200, done('Connected')) : sendPage(reply, 400, EXPIRED)
    }),
  )
}
