import { html, type Html } from '../../../lib/text/html.ts'
import { warning, type Page } from '../page.ts'
import { tokenField } from '../sessions/forms.ts'
import * as t from '../texts.ts'
import { TERMS } from './service.ts'

export const noTermsPage: Page = { title: t.noTermsOfService, body: html`<p><a href="/">${t.continueToHome}</a></p>` }

export const termsPage = (text: Html | null): Page => ({ title: t.termsOfService, body: html`${text}` })

interface Question {
  token: string
  returnTo: string
  text: Html | null
  /** Digest of the text that is being accepted. */
  digest: string
  fault?: string
}

/** A user who declines is signed out. */
export const questionPage = ({ token, returnTo, text, digest, fault }: Question): Page => ({
  title: t.acceptTermsOfService,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}${text}
    <form method="post" action="${TERMS}">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="terms" value="${digest}" />
      <button>${t.accept}</button>
    </form>
    <form method="post" action="/users/sign_out">
      ${tokenField(token)}
      <button class="quiet">${t.declineAndSignOut}</button>
    </form>`,
})
