import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { SESSION_COOKIE, sessionCookie } from '../../../api/credentials.ts'
import type { App } from '../../../context.ts'
import { Refusal, unauthenticated } from '../../../errors.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { sendPage } from '../page.ts'
import * as t from '../texts.ts'
import { admit, repeatSecondFactor, refuse, refuseSignIn } from './admission.ts'
import { identityOn, signedInOn } from './authenticate.ts'
import { cookie } from './cookies.ts'
import { csrfToken, formToken, isJson, onSignInForm, queryOf, textOf } from './forms.ts'
import { noPasswordsPage } from './pages.ts'
import { returnAddress, withReturn } from './return-address.ts'
import { takeSecondStep } from './second-step.ts'
import { endSession, signIn } from './service.ts'
import { TERMS } from '../terms/service.ts'
import { signInPageOf } from './page-texts.ts'

export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get('/users/sign_in', async (request, reply) => {
    const returnTo = returnAddress(textOf(queryOf(request), 'return_to'))
    const token = formToken(app, request, reply)
    // Scripts get the CSRF code here that their sign-in must send.
    if (isJson(request)) return send(request, reply, 200, { csrf_token: token })
    const identity = await identityOn(app, request)
    if (identity?.requiredStep === 'terms') return reply.redirect(withReturn(TERMS, returnTo), 303)
    if (identity && !identity.requiredStep) return reply.redirect(returnTo, 303)
    if (!(await passwordsOpenTheWeb(app))) return sendPage(reply, 403, noPasswordsPage({ token, returnTo }))
    return sendPage(reply, 200, await signInPageOf(app, { token, returnTo }))
  })

  onSignInForm(server, gateway, '/users/sign_in', async (form, request, reply) => {
    if (!(await passwordsOpenTheWeb(app))) {
      const way = { token: formToken(app, request, reply), returnTo: returnAddress(textOf(form, 'return_to')) }
      return refuse(request, reply, noPasswordsPage(way), t.passwordSignInIsDisabled)
    }
    const login = textOf(form, 'login') ?? textOf(form, 'email') ?? ''
    try {
      const user = await signIn(app, { login, password: textOf(form, 'password') ?? '', address: request.ip })
      return await admit(app, user, form, request, reply)
    } catch (error) {
      if (error instanceof Refusal) return refuseSignIn(app, error, form, request, reply)
      throw error
    }
  })

  onSignInForm(server, gateway, '/users/sign_in/second_factor', async (form, request, reply) => {
    const ticket = textOf(form, 'ticket') ?? ''
    const returnTo = returnAddress(textOf(form, 'return_to'))
    const again = (status: number, fault: string) => repeatSecondFactor(app, form, { status, fault }, request, reply)
    try {
      const user = await takeSecondStep(app, ticket, { code: textOf(form, 'code') ?? '', address: request.ip })
      if (user) return await admit(app, user, form, request, reply)
      if (user === false) return again(401, t.invalidCode)
      if (isJson(request)) return send(request, reply, 401, { message: t.signInRequired })
      return reply.redirect(`/users/sign_in?${new URLSearchParams({ return_to: returnTo })}`, 303)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.kind === 'throttled') {
        reply.headers(error.facts.headers as Record<string, string>)
        return again(429, t.tooManyFailedAttemptsUsePasskey)
      }
      return refuseSignIn(app, error, form, request, reply)
    }
  })

  onSignInForm(server, gateway, '/users/sign_out', async (_form, request, reply) => {
    const secret = sessionCookie(request.headers.cookie)
    if (secret) await endSession(app, secret)
    reply.header('Set-Cookie', cookie(app, SESSION_COOKIE, '', 0))
    if (isJson(request)) return send(request, reply, 204, undefined)
    const { after_sign_out_path } = await currentSettings(app)
    return reply.redirect(after_sign_out_path || '/users/sign_in', 303)
  })

  server.get('/-/csrf', async (request, reply) => {
    const secret = sessionCookie(request.headers.cookie)
    if (!secret || !(await signedInOn(app, request))) throw unauthenticated()
    return send(request, reply, 200, { csrf_token: csrfToken(app, secret) })
  })
}

const passwordsOpenTheWeb = async (app: App) => (await currentSettings(app)).password_authentication_enabled
