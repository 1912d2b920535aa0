import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebRoutes } from '../../../api/server.ts'
import { send, sendRefusal } from '../../../api/web-answers.ts'
import { SESSION_COOKIE, sessionCookie } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, unauthenticated } from '../../../errors.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { sendPage, type Page } from '../page.ts'
import { signedInOn } from './authenticate.ts'
import { cookie } from './cookies.ts'
import { csrfToken, formToken, isJson, onForm, queryOf, textOf } from './forms.ts'
import { permitNewPassword } from './links.ts'
import { blockedPage, homePage, newPasswordPage, noPasswordsPage, signInPage, unconfirmedPage } from './pages.ts'
import { returnAddress } from './return-address.ts'
import { endSession, signIn, startSession, webStanding } from './service.ts'

export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get('/', async (request, reply) => {
    const user = await signedInOn(app, request)
    if (!user) return reply.redirect('/users/sign_in', 303)
    return sendPage(reply, 200, homePage({ username: user.username, token: formToken(app, request, reply) }))
  })

  server.get('/users/sign_in', async (request, reply) => {
    const returnTo = returnAddress(textOf(queryOf(request), 'return_to'))
    const token = formToken(app, request, reply)
    // A script's way to the code that its sign-in must show.
    if (isJson(request)) return send(request, reply, 200, { csrf_token: token })
    if (await signedInOn(app, request)) return reply.redirect(returnTo, 303)
    if (!(await passwordsOpenTheWeb(app))) return sendPage(reply, 403, noPasswordsPage)
    return sendPage(reply, 200, signInPage({ token, returnTo }))
  })

  onForm(server, gateway, '/users/sign_in', async (form, request, reply) => {
    if (!(await passwordsOpenTheWeb(app))) return refuse(request, reply, noPasswordsPage, 'Passwords are switched off.')
    const login = textOf(form, 'login') ?? textOf(form, 'email') ?? ''
    try {
      const user = await signIn(app, { login, password: textOf(form, 'password') ?? '', address: request.ip })
      return await admit(app, user, form, request, reply)
    } catch (error) {
      if (error instanceof Refusal) return refuseSignIn(app, error, form, request, reply)
      throw error
    }
  })

  onForm(server, gateway, '/users/sign_out', async (_form, request, reply) => {
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

async function admit(app: App, user: User, form: Raw, request: FastifyRequest, reply: FastifyReply) {
  const standing = webStanding(app, user)
  if (standing !== 'ready') return detain(app, user, standing, request, reply)

  const { secret, maxAge } = await startSession(app, user, {
    address: request.ip,
    userAgent: request.headers['user-agent'],
    previous: sessionCookie(request.headers.cookie),
  })
  reply.header('Set-Cookie', cookie(app, SESSION_COOKIE, secret, maxAge))
  if (!isJson(request)) return reply.redirect(returnAddress(textOf(form, 'return_to')), 303)
  return send(request, reply, 201, { username: user.username, csrf_token: csrfToken(app, secret) })
}

/** The password was right, and still there is something to do before a session begins. */
async function detain(
  app: App,
  user: User,
  standing: 'unconfirmed' | 'password_expired',
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (standing === 'unconfirmed') return refuse(request, reply, unconfirmedPage, 'Your email address is not confirmed.')
  if (isJson(request)) return send(request, reply, 403, { message: 'Your password has expired.' })
  const link = await permitNewPassword(app, user)
  const reason = 'Your password has expired. Choose another one, then sign in with it.'
  return sendPage(reply, 403, newPasswordPage({ token: formToken(app, request, reply), link, reason }))
}

const refuse = (request: FastifyRequest, reply: FastifyReply, page: Page, message: string) =>
  isJson(request) ? send(request, reply, 403, { message }) : sendPage(reply, 403, page)

const faultOf = ({ facts }: Refusal) => (typeof facts.fault === 'string' ? facts.fault : 'Invalid login or password.')

function refuseSignIn(app: App, refusal: Refusal, form: Raw, request: FastifyRequest, reply: FastifyReply) {
  const isBlocked = refusal.facts.reason === 'blocked'
  if (isBlocked) return refuse(request, reply, blockedPage, 'Your account has been blocked.')
  if (isJson(request)) return sendRefusal(request, reply, refusal)
  const isThrottled = refusal.kind === 'throttled'
  if (isThrottled) reply.headers(refusal.facts.headers as Record<string, string>)
  const fault = isThrottled ? 'Too many failed tries. Wait a minute.' : faultOf(refusal)
  const returnTo = returnAddress(textOf(form, 'return_to'))
  const login = textOf(form, 'login') ?? ''
  const page = signInPage({ token: formToken(app, request, reply), returnTo, login, fault })
  return sendPage(reply, isThrottled ? 429 : 401, page)
}
