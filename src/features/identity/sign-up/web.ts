import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Raw } from '../../../api/input.ts'
import type { WebRoutes } from '../../../api/server.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { isOpenToNewcomers } from '../../instance/settings/sign-up.ts'
import { sendPage } from '../page.ts'
import * as t from '../texts.ts'
import { admit } from '../sessions/admission.ts'
import { signedInOn } from '../sessions/authenticate.ts'
import { formToken, onForm, queryOf, textOf } from '../sessions/forms.ts'
import { pendingPage } from '../sessions/pages.ts'
import { returnAddress } from '../sessions/return-address.ts'
import { closedPage, registeredPage, signUpPage, type SignUpPage } from './pages.ts'
import { register } from './service.ts'
import { termsOf } from '../terms/service.ts'
import { countTry } from '../throttling/throttle.ts'
import { drawn } from '../sessions/page-texts.ts'

export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get('/users/sign_up', async (request, reply) => {
    const returnTo = returnAddress(textOf(queryOf(request), 'return_to'))
    if (await signedInOn(app, request)) return reply.redirect(returnTo, 303)
    if (!(await isOpen(app))) return sendPage(reply, 403, closedPage)
    return ask(app, 200, { returnTo }, request, reply)
  })

  onForm(server, gateway, '/users/sign_up', async (form, request, reply) => {
    const returnTo = returnAddress(textOf(form, 'return_to'))
    if (await signedInOn(app, request)) return reply.redirect(returnTo, 303)
    if (!(await isOpen(app))) return sendPage(reply, 403, closedPage)
    const word = (name: string) => textOf(form, name) ?? ''
    const typed = { name: word('name'), username: word('username'), email: word('email') }
    try {
      await countTry(app, `sign-up ${networkOf(request.ip)}`)
      const terms = textOf(form, 'terms')
      const user = await register(app, { ...typed, password: word('password'), terms, address: request.ip })
      return await answer(app, user, typed.email, form, request, reply)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.kind === 'throttled') {
        reply.headers(error.facts.headers as Record<string, string>)
        return ask(app, 429, { returnTo, typed, fault: t.tooManyAttempts }, request, reply)
      }
      if (error.kind !== 'bad_request') throw error
      const faults = error.reason as Record<string, string[]>
      return ask(app, 422, { returnTo, typed, faults }, request, reply)
    }
  })
}

const isOpen = async (app: App) => isOpenToNewcomers(await currentSettings(app))

async function ask(
  app: App,
  status: number,
  page: Omit<SignUpPage, 'token' | 'terms'>,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const terms = (await termsOf(app))?.digest ?? null
  return sendPage(reply, status, signUpPage({ ...page, token: formToken(app, request, reply), terms }))
}

/**
 * If a confirmation mail or an approval is required, the answer depends only on the settings: the address may belong to
 * another user.
 */
async function answer(
  app: App,
  user: User | null,
  email: string,
  form: Raw,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const settings = await currentSettings(app)
  const { email_confirmation_setting: confirmation, require_admin_approval_after_user_signup: isLookedAt } = settings
  if (confirmation === 'off' && isLookedAt)
    return sendPage(reply, 200, pendingPage(await drawn(settings.after_sign_up_text)))
  if (user === null || confirmation !== 'off') {
    return sendPage(reply, 200, registeredPage({ email, mayEnter: confirmation === 'soft' && !isLookedAt, isLookedAt }))
  }
  return admit(app, user, form, request, reply)
}
