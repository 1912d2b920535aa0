import { html, type Html } from '../../../lib/text/html.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.ts'
import { warning, type Page } from '../page.ts'
import { tokenField } from './forms.ts'
import { withReturn } from './return-address.ts'

const LOOKED_AT_FIRST =
  'An administrator of this instance looks at your account first. You are mailed once it is decided.'

const SIGN_IN_LINK = html`<p><a href="/users/sign_in">Sign in</a></p>`

/** Hidden until the script shows it, because only a script can use a device. */
const passkeyForm = ({ token, returnTo, ticket = '' }: { token: string; returnTo: string; ticket?: string }) =>
  html`<form method="post" action="/users/sign_in/passkey" id="passkey" hidden>
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="ticket" value="${ticket}" />
      <input type="hidden" name="challenge" value="" />
      <input type="hidden" name="credential" value="" />
      <button class="quiet">Sign in with a passkey</button>
      <p class="bad" role="alert" hidden></p>
    </form>
    <script type="module" src="/-/assets/sign-in.js"></script>`

export interface SignInPage {
  token: string
  returnTo: string
  login?: string
  fault?: string | null
  /** The sign-in text of the instance. */
  words?: Html | null
  /** Users may register themselves. */
  isOpen?: boolean
}

export const signInPage = ({ token, returnTo, login = '', fault, words, isOpen = false }: SignInPage): Page => ({
  title: 'Sign in',
  hasScript: true,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}${words}
    <form method="post" action="/users/sign_in">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <label for="login">Username or email</label>
      <input
        id="login"
        name="user[login]"
        value="${login}"
        autocomplete="username"
        autocapitalize="none"
        required
        autofocus
      />
      <label for="password">Password</label>
      <input id="password" name="user[password]" type="password" autocomplete="current-password" required />
      <button>Sign in</button>
    </form>
    ${passkeyForm({ token, returnTo })}
    ${isOpen && html`<p>No account yet? <a href="${withReturn('/users/sign_up', returnTo)}">Register</a></p>`}
    <p><a href="/users/password/new">Forgot your password?</a> · <a href="/help">Help</a></p>`,
})

export interface SecondFactorPage {
  token: string
  returnTo: string
  ticket: string
  hasPasskey: boolean
  fault?: string
}

export const secondFactorPage = ({ token, returnTo, ticket, hasPasskey, fault }: SecondFactorPage): Page => ({
  title: 'One more step',
  hasScript: hasPasskey,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}
    <form method="post" action="/users/sign_in/second_factor">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="ticket" value="${ticket}" />
      <label for="code">Code of your device, or one of your recovery codes</label>
      <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" required autofocus />
      <button>Sign in</button>
    </form>
    ${hasPasskey && passkeyForm({ token, returnTo, ticket })} ${SIGN_IN_LINK}`,
})

export const noPasswordsPage = (way: { token: string; returnTo: string }): Page => ({
  title: 'Sign in',
  hasScript: true,
  leadsOutside: way.returnTo.startsWith('/oauth/authorize'),
  body: html`<p>Signing in with a password is switched off on this instance.</p>
    ${passkeyForm(way)}`,
})

export const blockedPage: Page = {
  title: 'Sign in',
  body: html`${warning('Your account has been blocked.')}
    <p>Ask an administrator of this instance.</p>`,
}

/** With the text of the instance for new users. */
export const pendingPage = (words: Html | null): Page => ({
  title: 'Your account waits for approval',
  body: html`<p>${LOOKED_AT_FIRST}</p>
    ${words} ${SIGN_IN_LINK}`,
})

export const unconfirmedPage: Page = {
  title: 'Confirm your email address',
  body: html`<p>Follow the link we mailed you, then sign in.</p>
    <p>
      The mail is gone or too old? <a href="/users/password/new">Choose a new password</a>: its link confirms the
      address too.
    </p>`,
}

export const forgottenPage = (token: string, fault?: string): Page => ({
  title: 'Choose a new password',
  body: html`${warning(fault)}
    <form method="post" action="/users/password/new">
      ${tokenField(token)}
      <label for="email">Email address of your account</label>
      <input id="email" name="user[email]" type="email" autocomplete="email" required autofocus />
      <button>Mail me a link</button>
    </form>
    ${SIGN_IN_LINK}`,
})

export const mailedPage: Page = {
  title: 'Look into your mail',
  body: html`<p>If an account has this address, a link to choose a new password is on its way.</p>
    ${SIGN_IN_LINK}`,
}

export interface NewPasswordPage {
  token: string
  link: string
  reason?: string
  fault?: string
}

export const newPasswordPage = ({ token, link, reason, fault }: NewPasswordPage): Page => ({
  title: 'Choose a new password',
  body: html`${reason && html`<p>${reason}</p>`}${warning(fault)}
    <form method="post" action="/users/password/edit">
      ${tokenField(token)}
      <input type="hidden" name="user[reset_password_token]" value="${link}" />
      <label for="password">New password</label>
      <input
        id="password"
        name="user[password]"
        type="password"
        autocomplete="new-password"
        required
        autofocus
        minlength="${SHORTEST_PASSWORD}"
        maxlength="${LONGEST_PASSWORD}"
      />
      <label for="again">The same once more</label>
      <input id="again" name="user[password_confirmation]" type="password" autocomplete="new-password" required />
      <button>Set password</button>
    </form>`,
})

export const passwordSetPage = (words: Html | null): Page => ({
  title: 'Your password is set',
  body: html`${words ?? html`<p>Wherever you were signed in, you are signed out now.</p>`} ${SIGN_IN_LINK}`,
})

export interface ConfirmPage {
  token: string
  link: string
  username: string
  email: string
}

export const confirmPage = ({ token, link, username, email }: ConfirmPage): Page => ({
  title: 'Confirm your email address',
  body: html`<p>From now on ${email} belongs to the account ${username}. Do not confirm it if that is not yours.</p>
    <form method="post" action="/users/confirmation">
      ${tokenField(token)}
      <input type="hidden" name="confirmation_token" value="${link}" />
      <button>Confirm</button>
    </form>`,
})

export const confirmedPage = (words: Html | null, isPending: boolean): Page => ({
  title: 'Your email address is confirmed',
  body: html`${isPending && html`<p>${LOOKED_AT_FIRST}</p>`}${words} ${SIGN_IN_LINK}`,
})

export const deadLinkPage: Page = {
  title: 'This link is no longer valid',
  body: html`<p>It was used, has expired, or the address of the account has changed.</p>
    <p><a href="/users/password/new">Ask for a new one</a></p>`,
}
