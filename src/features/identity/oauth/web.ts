import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Raw } from '../../../api/input.ts'
import type { WebRoutes } from '../../../api/server.ts'
import type { User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { sendPage } from '../page.ts'
import { signedInOn } from '../sessions/authenticate.ts'
import { formToken, onSignInForm, queryOf, textOf, type FormHandler } from '../sessions/forms.ts'
import { findUser } from '../users/queries.ts'
import {
  QUESTION,
  denialAddress,
  findTarget,
  grant,
  hasConsent,
  readAuthorization,
  refusalAddress,
  type AuthorizationRequest,
  type Target,
} from './authorization.ts'
import { badClientPage, consentPage } from './pages.ts'

interface RequestContext {
  user: User
  target: Target
  input: AuthorizationRequest
  given: Raw
}

/** The user's side of OAuth: sign in, consent, and redirect to the client. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  /** Reads the request. Errors are answered here, to the user or to the client. */
  async function withRequest(
    given: Raw,
    request: FastifyRequest,
    reply: FastifyReply,
    answer: (context: RequestContext) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const target = await findTarget(app, given)
    if (!target) return sendPage(reply, 400, badClientPage)
    try {
      const input = readAuthorization(target, given)
      const user = await signedInOn(app, request)
      if (!user) return reply.redirect(signInAddress(given), 303)
      return await answer({ user, target, input, given })
    } catch (error) {
      if (error instanceof Refusal && error.facts.body) return reply.redirect(refusalAddress(target, error), 303)
      throw error
    }
  }

  server.get('/oauth/authorize', (request, reply) =>
    withRequest(queryOf(request), request, reply, async ({ user, target, input, given }) => {
      if (await hasConsent(app, user, target, input)) {
        return reply.redirect(await grant(app, user, target, input), 303)
      }
      const { owner_id } = target.application
      const owner = owner_id === null ? null : await findUser(app.db, owner_id)
      const token = formToken(app, request, reply)
      return sendPage(reply, 200, consentPage({ token, user, owner, target, input, given }))
    }),
  )

  onSignInForm(server, gateway, '/oauth/authorize', (form, request, reply) =>
    withRequest(form, request, reply, async ({ user, target, input }) => {
      // A form cannot send DELETE, so the button sends `_method`.
      const isDenied = textOf(form, '_method') === 'delete'
      return reply.redirect(isDenied ? denialAddress(target) : await grant(app, user, target, input), 303)
    }),
  )

  const deny: FormHandler = (form, request, reply) =>
    withRequest({ ...queryOf(request), ...form }, request, reply, async ({ target }) =>
      reply.redirect(denialAddress(target), 303),
    )
  onSignInForm(server, gateway, '/oauth/authorize', deny, 'DELETE')
}

/**
 * After signing in, the browser returns with a GET and the same parameters. A secret in the original request is not
 * repeated.
 */
function signInAddress(given: Raw): string {
  const texts = QUESTION.map((name) => [name, textOf(given, name)] as const).filter((pair) => pair[1] !== null)
  const back = `/oauth/authorize?${new URLSearchParams(texts as [string, string][])}`
  return `/users/sign_in?${new URLSearchParams({ return_to: back })}`
}
