import type { WebRoutes } from '../../../api/server.ts'
import { sendPage } from '../page.ts'
import { identityOn } from '../sessions/authenticate.ts'
import { formToken, onForm, queryOf, textOf } from '../sessions/forms.ts'
import { returnAddress, withReturn } from '../sessions/return-address.ts'
import * as t from '../texts.ts'
import { noTermsPage, questionPage, termsPage } from './pages.ts'
import { TERMS, acceptTerms, isTermsDue, termsOf } from './service.ts'
import { drawn } from '../sessions/page-texts.ts'

/** Everybody may read the terms. A signed-in user who has not accepted them yet is asked to. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway

  server.get(TERMS, async (request, reply) => {
    const returnTo = returnAddress(textOf(queryOf(request), 'return_to'))
    const terms = await termsOf(app)
    if (!terms) return sendPage(reply, 404, noTermsPage)
    const user = (await identityOn(app, request))?.user
    const text = await drawn(terms.text)
    if (!user || !(await isTermsDue(app, user))) return sendPage(reply, 200, termsPage(text))
    return sendPage(reply, 200, questionPage({ ...terms, text, returnTo, token: formToken(app, request, reply) }))
  })

  onForm(server, gateway, TERMS, async (form, request, reply) => {
    const returnTo = returnAddress(textOf(form, 'return_to'))
    const user = (await identityOn(app, request))?.user
    if (!user) return reply.redirect(withReturn('/users/sign_in', returnTo), 303)
    const terms = await termsOf(app)
    if (!terms) return reply.redirect(returnTo, 303)
    if (textOf(form, 'terms') !== terms.digest) {
      const text = await drawn(terms.text)
      const token = formToken(app, request, reply)
      return sendPage(reply, 409, questionPage({ ...terms, text, returnTo, token, fault: t.termsHaveChanged }))
    }
    await acceptTerms(app, user, terms)
    return reply.redirect(returnTo, 303)
  })
}
