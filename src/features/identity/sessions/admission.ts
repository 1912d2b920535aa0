/** Completes a web sign-in: with a session, with one more step, or with an error. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SESSION_COOKIE, sessionCookie } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import { send, sendRefusal } from '../../../api/web-answers.ts'
import type { App, User } from '../../../context.ts'
import type { Refusal } from '../../../errors.ts'
import { sendPage, type Page } from '../page.ts'
import * as t from '../texts.ts'
import { hasPasskeys } from '../passkeys/queries.ts'
import { dueSecondFactor } from '../second-factor/requirement.ts'
import { cookie } from './cookies.ts'
import { csrfToken, formToken, isJson, textOf } from './forms.ts'
import { permitNewPassword } from './links.ts'
import { blockedPage, newPasswordPage, pendingPage, secondFactorPage, unconfirmedPage } from './pages.ts'
import { returnAddress, withReturn } from './return-address.ts'
import { openSecondStep, secondStepTicket } from './second-step.ts'
import { startSession, signInState } from './service.ts'
import { TERMS, isTermsDue } from '../terms/service.ts'
import { signInPageOf } from './page-texts.ts'

export async function admit(app: App, user: User, form: Raw, request: FastifyRequest, reply: FastifyReply) {
  const state = signInState(app, user)
  if (state !== 'ready') return detain(app, user, state, request, reply)

  const { secret, maxAge } = await startSession(app, user, {
    address: request.ip,
    userAgent: request.headers['user-agent'],
    previous: sessionCookie(request.headers.cookie),
  })
  reply.header('Set-Cookie', cookie(app, SESSION_COOKIE, secret, maxAge))
  if (!isJson(request)) {
    const returnTo = returnAddress(textOf(form, 'return_to'))
    if (await isTermsDue(app, user)) return reply.redirect(withReturn(TERMS, returnTo), 303)
    const isDue = (await dueSecondFactor(app, user)) !== null
    return reply.redirect(isDue ? '/-/profile/two_factor_auth' : returnTo, 303)
  }
  return send(request, reply, 201, { username: user.username, csrf_token: csrfToken(app, secret) })
}

/** The password was correct, but a further step is required before a session starts. */
async function detain(
  app: App,
  user: User,
  state: 'unconfirmed' | 'password_expired',
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (state === 'unconfirmed') return refuseUnconfirmed(request, reply)
  if (isJson(request)) return send(request, reply, 403, { message: t.passwordExpired })
  const link = await permitNewPassword(app, user)
  const reason = t.passwordExpiredChooseNew
  return sendPage(reply, 403, newPasswordPage({ token: formToken(app, request, reply), link, reason }))
}

export const refuse = (request: FastifyRequest, reply: FastifyReply, page: Page, message: string) =>
  isJson(request) ? send(request, reply, 403, { message }) : sendPage(reply, 403, page)

const refuseUnconfirmed = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, unconfirmedPage, t.emailNotConfirmed)

const faultOf = ({ facts }: Refusal) => (typeof facts.fault === 'string' ? facts.fault : t.invalidLoginOrPassword)

/** The password was correct: the user continues with a code or a passkey. */
async function askSecond(app: App, user: User, form: Raw, request: FastifyRequest, reply: FastifyReply) {
  const ticket = secondStepTicket(app, user)
  const hasPasskey = await hasPasskeys(app, user)
  if (isJson(request)) return send(request, reply, 401, { message: t.twoFactorRequired, ticket })
  const token = formToken(app, request, reply)
  const returnTo = returnAddress(textOf(form, 'return_to'))
  return sendPage(reply, 200, secondFactorPage({ token, ticket, returnTo, hasPasskey }))
}

/** The code or passkey was wrong. The user need not enter the password again. */
export async function repeatSecondFactor(
  app: App,
  form: Raw,
  { status, fault }: { status: number; fault: string },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (isJson(request)) return send(request, reply, status, { message: fault })
  const ticket = textOf(form, 'ticket') ?? ''
  const user = await openSecondStep(app, ticket)
  const hasPasskey = user !== null && (await hasPasskeys(app, user))
  const token = formToken(app, request, reply)
  const returnTo = returnAddress(textOf(form, 'return_to'))
  return sendPage(reply, status, secondFactorPage({ token, returnTo, ticket, fault, hasPasskey }))
}

export async function refuseSignIn(
  app: App,
  refusal: Refusal,
  form: Raw,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (refusal.facts.reason === 'two_factor') return askSecond(app, refusal.facts.user as User, form, request, reply)
  const { reason } = refusal.facts
  if (reason === 'blocked') return refuse(request, reply, blockedPage, t.accountBlocked)
  if (reason === 'pending') return refuse(request, reply, pendingPage(null), `${t.accountPendingApproval}.`)
  if (reason === 'unconfirmed') return refuseUnconfirmed(request, reply)
  if (isJson(request)) return sendRefusal(request, reply, refusal)
  const isThrottled = refusal.kind === 'throttled'
  if (isThrottled) reply.headers(refusal.facts.headers as Record<string, string>)
  const fault = isThrottled ? t.tooManyFailedAttempts : faultOf(refusal)
  const returnTo = returnAddress(textOf(form, 'return_to'))
  const login = textOf(form, 'login') ?? ''
  const page = await signInPageOf(app, { token: formToken(app, request, reply), returnTo, login, fault })
  return sendPage(reply, isThrottled ? 429 : 401, page)
}
