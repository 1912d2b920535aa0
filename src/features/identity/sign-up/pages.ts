import { html, rich, type Html } from '../../../lib/text/html.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.ts'
import { warning, type Page } from '../page.ts'
import { tokenField } from '../sessions/forms.ts'
import { withReturn } from '../sessions/return-address.ts'
import * as t from '../texts.ts'

export interface SignUpPage {
  token: string
  returnTo: string
  /** The submitted values, never the password. */
  typed?: { name: string; username: string; email: string }
  /** Errors by field. */
  faults?: Readonly<Record<string, readonly string[]>>
  fault?: string
  /** The digest of the terms to accept; null if there are none. */
  terms: string | null
}

export function signUpPage({ token, returnTo, typed, faults = {}, fault, terms }: SignUpPage): Page {
  const field = (name: 'name' | 'username' | 'email' | 'password', label: string, attributes: Html) => {
    const found = faults[name] ?? []
    const isFirst = name === (['name', 'username', 'email', 'password'].find((one) => faults[one]) ?? 'name')
    return html`<label for="${name}">${label}</label>
      <input
        id="${name}"
        name="user[${name}]"
        ${name !== 'password' && html`value="${typed?.[name] ?? ''}"`}
        ${attributes}
        ${found.length > 0 && html`aria-invalid="true" aria-describedby="${name}-fault"`}
        ${isFirst && html`autofocus`}
        required
      />
      ${found.length > 0 && html`<p class="bad" id="${name}-fault">${sentences(label, found)}</p>`}`
  }
  const isFaulty = Object.keys(faults).length > 0
  return {
    title: t.createAnAccount,
    leadsOutside: returnTo.startsWith('/oauth/authorize'),
    body: html`${warning(fault ?? (isFaulty ? t.correctErrorsBelow : null))}
      <form method="post" action="/users/sign_up">
        ${tokenField(token)}
        <input type="hidden" name="return_to" value="${returnTo}" />
        ${field('name', t.name, html`autocomplete="name" maxlength="255"`)}
        ${field('username', t.username, html`autocomplete="username" autocapitalize="none" maxlength="255"`)}
        ${field('email', t.email, html`type="email" autocomplete="email" maxlength="254"`)}
        ${field(
          'password',
          t.password,
          html`type="password" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}"
          maxlength="${LONGEST_PASSWORD}"`,
        )}
        ${terms !== null && termsField(terms, faults.terms ?? [])}
        <button>${t.createAccount}</button>
      </form>
      <p>
        ${rich(t.alreadyHaveAnAccount, { link: html`<a href="${withReturn('/users/sign_in', returnTo)}">${t.signIn}</a>` })}
      </p>`,
  }
}

const sentences = (label: string, faults: readonly string[]) =>
  faults.map((fault) => `${label} ${fault.replace(/\.$/, '')}.`).join(' ')

/** The submitted form names the text that was accepted. */
function termsField(digest: string, faults: readonly string[]): Html {
  const link = html`<a href="/-/users/terms" target="_blank">${t.terms}</a>`
  const label = rich(t.iAcceptTheTerms, { terms: link })
  return html`<label class="check">
      <input type="checkbox" name="user[terms]" value="${digest}" required />${label}
    </label>
    ${faults.length > 0 && html`<p class="bad">${sentences(t.theTerms, faults)}</p>`}`
}

export const closedPage: Page = {
  title: t.signUpDisabled,
  body: html`<p>${t.signUpDisabledContactAdministrator}</p>
    <p><a href="/users/sign_in">${t.signIn}</a></p>`,
}

/** The same page whether the address was free or taken. */
export const registeredPage = ({ email, mayEnter, isLookedAt }: Registered): Page => ({
  title: t.checkYourEmail,
  body: html`<p>${t.weSentAnEmail(email, mayEnter ? t.followLinkWithinThreeDays : t.followLinkThenSignIn)}</p>
    ${isLookedAt && html`<p>${t.administratorMustApprove}</p>`}
    <p><a href="/users/sign_in">${t.signIn}</a></p>`,
})

interface Registered {
  email: string
  /** The user may sign in before the address is confirmed. */
  mayEnter: boolean
  isLookedAt: boolean
}
