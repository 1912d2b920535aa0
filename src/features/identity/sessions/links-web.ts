import type { WebRoutes } from '../../../api/server.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { Refusal } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { isPassword, passwordFaults } from '../passwords.ts'
import { sendPage } from '../page.ts'
import type { User } from '../../../context.ts'
import { claimOfLink, confirmClaimByLink } from '../emails/confirmation.ts'
import { isPending } from '../users/model.ts'
import { isEmail } from '../users/validation.ts'
import * as t from '../texts.ts'
import { formToken, onForm, queryOf, textOf } from './forms.ts'
import { answerPasswordReset } from './jobs.ts'
import { confirmByLink, resetPasswordByLink, userOfLink } from './links.ts'
import {
  confirmPage,
  confirmedPage,
  deadLinkPage,
  forgottenPage,
  mailedPage,
  newPasswordPage,
  passwordSetPage,
} from './pages.ts'
import { countTry } from '../throttling/throttle.ts'
import { signUpText } from './page-texts.ts'

/** The pages behind mailed links. Opening a link changes nothing, because mail programs open links on their own. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get('/users/password/new', async (request, reply) =>
    sendPage(reply, 200, forgottenPage(formToken(app, request, reply))),
  )

  onForm(server, gateway, '/users/password/new', async (form, request, reply) => {
    const again = (status: number, fault: string) =>
      sendPage(reply, status, forgottenPage(formToken(app, request, reply), fault))
    const email = textOf(form, 'email')?.trim().toLowerCase()
    if (!email || !isEmail(email)) return again(422, t.enterValidEmail)
    try {
      await countTry(app, `password-reset ${networkOf(request.ip)}`)
    } catch (error) {
      if (error instanceof Refusal) return again(429, t.tooManyAttemptsTryInMinute)
      throw error
    }
    await enqueue(app, answerPasswordReset, { email })
    return sendPage(reply, 200, mailedPage)
  })

  server.get('/users/password/edit', async (request, reply) => {
    const link = textOf(queryOf(request), 'reset_password_token') ?? ''
    if (!(await userOfLink(app, 'reset_password', link))) return sendPage(reply, 404, deadLinkPage)
    return sendPage(reply, 200, newPasswordPage({ token: formToken(app, request, reply), link }))
  })

  onForm(server, gateway, '/users/password/edit', async (form, request, reply) => {
    const link = textOf(form, 'reset_password_token') ?? ''
    const user = await userOfLink(app, 'reset_password', link)
    if (!user) return sendPage(reply, 404, deadLinkPage)
    const password = textOf(form, 'password') ?? ''
    const fault = await faultOf(user, password, textOf(form, 'password_confirmation'))
    if (fault) return sendPage(reply, 422, newPasswordPage({ token: formToken(app, request, reply), link, fault }))
    const isSet = await resetPasswordByLink(app, link, password)
    return isSet
      ? sendPage(reply, 200, passwordSetPage(await signUpText(app, user)))
      : sendPage(reply, 404, deadLinkPage)
  })

  server.get('/users/confirmation', async (request, reply) => {
    const link = textOf(queryOf(request), 'confirmation_token') ?? ''
    const whose = (await userOfLink(app, 'confirm', link)) ?? (await claimOfLink(app, link))
    if (!whose) return sendPage(reply, 404, deadLinkPage)
    const { username, email } = whose
    return sendPage(reply, 200, confirmPage({ token: formToken(app, request, reply), link, username, email }))
  })

  onForm(server, gateway, '/users/confirmation', async (form, _request, reply) => {
    const link = textOf(form, 'confirmation_token') ?? ''
    const user = await userOfLink(app, 'confirm', link)
    const isConfirmed = (await confirmByLink(app, link)) || (await confirmClaimByLink(app, link))
    if (!isConfirmed) return sendPage(reply, 404, deadLinkPage)
    const waits = user !== null && isPending(user)
    return sendPage(reply, 200, confirmedPage(user && (await signUpText(app, user)), waits))
  })
}

async function faultOf(user: User, password: string, again: string | null): Promise<string | null> {
  const [fault] = passwordFaults(password)
  if (fault) return t.passwordFault(fault)
  if (again !== null && again !== password) return t.passwordsDoNotMatch
  const mustChange = user.password_expires_at !== null
  return mustChange && (await isPassword(password, user.password_digest)) ? t.newPasswordMustBeDifferent : null
}
