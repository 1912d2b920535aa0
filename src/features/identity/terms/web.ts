import type { WebRoutes } from '../../../api/server.ts'
import { html, type Html } from '../../../lib/text/html.ts'
import { sendPage, warning, type Page } from '../page.ts'
import { identityOn } from '../sessions/authenticate.ts'
import { formToken, onForm, queryOf, textOf, tokenField } from '../sessions/forms.ts'
import { returnAddress, withReturn } from '../sessions/return-address.ts'
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
      const fault = 'The terms have changed. Read them again.'
      const token = formToken(app, request, reply)
      return sendPage(reply, 409, questionPage({ ...terms, text: await drawn(terms.text), returnTo, token, fault }))
    }
    await acceptTerms(app, user, terms)
    return reply.redirect(returnTo, 303)
  })
}

const noTermsPage: Page = { title: 'No terms of service', body: html`<p><a href="/">Continue</a></p>` }

const termsPage = (text: Html | null): Page => ({ title: 'Terms of service', body: html`${text}` })

interface Question {
  token: string
  returnTo: string
  text: Html | null
  /** Digest of the text that is being accepted. */
  digest: string
  fault?: string
}

/** A user who declines is signed out. */
const questionPage = ({ token, returnTo, text, digest, fault }: Question): Page => ({
  title: 'Accept the terms of service',
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}${text}
    <form method="post" action="${TERMS}">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="terms" value="${digest}" />
      <button>Accept</button>
    </form>
    <form method="post" action="/users/sign_out">
      ${tokenField(token)}
      <button class="quiet">Decline and sign out</button>
    </form>`,
})
