import { html, type Html } from '../../../lib/text/html.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.ts'
import { warning, type Page } from '../page.ts'
import { tokenField } from '../sessions/forms.ts'
import { withReturn } from '../sessions/return-address.ts'

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
    title: 'Create an account',
    leadsOutside: returnTo.startsWith('/oauth/authorize'),
    body: html`${warning(fault ?? (isFaulty ? 'Please correct the errors below.' : null))}
      <form method="post" action="/users/sign_up">
        ${tokenField(token)}
        <input type="hidden" name="return_to" value="${returnTo}" />
        ${field('name', 'Name', html`autocomplete="name" maxlength="255"`)}
        ${field('username', 'Username', html`autocomplete="username" autocapitalize="none" maxlength="255"`)}
        ${field('email', 'Email', html`type="email" autocomplete="email" maxlength="254"`)}
        ${field(
          'password',
          'Password',
          html`type="password" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}"
          maxlength="${LONGEST_PASSWORD}"`,
        )}
        ${terms !== null && termsField(terms, faults.terms ?? [])}
        <button>Create account</button>
      </form>
      <p>Already have an account? <a href="${withReturn('/users/sign_in', returnTo)}">Sign in</a></p>`,
  }
}

const sentences = (label: string, faults: readonly string[]) =>
  faults.map((fault) => `${label} ${fault.replace(/\.$/, '')}.`).join(' ')

/** The submitted form names the text that was accepted. */
const termsField = (digest: string, faults: readonly string[]) =>
  html`<label class="check">
      <input type="checkbox" name="user[terms]" value="${digest}" required />I accept the
      <a href="/-/users/terms" target="_blank">terms</a>
    </label>
    ${faults.length > 0 && html`<p class="bad">${sentences('The terms', faults)}</p>`}`

export const closedPage: Page = {
  title: 'Sign-up disabled',
  body: html`<p>Sign-up is disabled on this instance. Contact an administrator to get an account.</p>
    <p><a href="/users/sign_in">Sign in</a></p>`,
}

/** The same page whether the address was free or taken. */
export const registeredPage = ({ email, mayEnter, isLookedAt }: Registered): Page => ({
  title: 'Check your email',
  body: html`<p>
      We sent an email to ${email}. ${mayEnter ? WITHIN_DAYS : 'Follow the link in the email, then sign in.'}
    </p>
    ${isLookedAt && html`<p>An administrator must approve your account before you can sign in.</p>`}
    <p><a href="/users/sign_in">Sign in</a></p>`,
})

const WITHIN_DAYS = 'Follow the link in the email within three days. Until then you can sign in without confirmation.'

interface Registered {
  email: string
  /** The user may sign in before the address is confirmed. */
  mayEnter: boolean
  isLookedAt: boolean
}
