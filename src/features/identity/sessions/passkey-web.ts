/** Signing in with a passkey: instead of the password, or after it. */
import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { Refusal } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { sendPage } from '../page.ts'
import * as t from '../texts.ts'
import { signedIn } from '../passkeys/credential.ts'
import { askForPasskey, takePasskey } from '../passkeys/service.ts'
import { admit, repeatSecondFactor, refuseSignIn } from './admission.ts'
import { formToken, isJson, onSignInForm, textOf } from './forms.ts'
import { returnAddress } from './return-address.ts'
import { openSecondStep } from './second-step.ts'
import { completeSignIn } from './service.ts'
import { countTry, forgiveTry } from '../throttling/throttle.ts'
import { signInPageOf } from './page-texts.ts'

const REFUSED = t.passkeyNotAccepted

export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  onSignInForm(server, gateway, '/users/sign_in/passkey/options', async (form, request, reply) => {
    const ticket = textOf(form, 'ticket')
    const user = ticket ? await openSecondStep(app, ticket) : null
    if (ticket && !user) return send(request, reply, 401, { message: t.signInRequired })
    return send(request, reply, 200, await askForPasskey(app, user))
  })

  onSignInForm(server, gateway, '/users/sign_in/passkey', async (form, request, reply) => {
    const ticket = textOf(form, 'ticket')
    const returnTo = returnAddress(textOf(form, 'return_to'))
    const user = ticket ? await openSecondStep(app, ticket) : null
    if (ticket && !user) {
      if (isJson(request)) return send(request, reply, 401, { message: t.signInRequired })
      return reply.redirect(`/users/sign_in?${new URLSearchParams({ return_to: returnTo })}`, 303)
    }
    const again = async (status: number, fault: string) => {
      if (ticket) return repeatSecondFactor(app, form, { status, fault }, request, reply)
      if (isJson(request)) return send(request, reply, status, { message: fault })
      return sendPage(
        reply,
        status,
        await signInPageOf(app, { token: formToken(app, request, reply), returnTo, fault }),
      )
    }
    try {
      const tries = `passkey ${networkOf(request.ip)}`
      await countTry(app, tries)
      const credential = signedIn(textOf(form, 'credential') ?? '')
      const shown = { ticket: textOf(form, 'challenge') ?? '', credential: credential! }
      const found = credential && (await takePasskey(app, user, shown))
      if (!found) return await again(401, REFUSED)
      await forgiveTry(app, tries)
      return await admit(app, await completeSignIn(app, found, request.ip), form, request, reply)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.kind === 'throttled') return again(429, t.tooManyFailedAttempts)
      return refuseSignIn(app, error, form, request, reply)
    }
  })
}
