import { html, type Html } from '../../../lib/text/html.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.ts'
import { warning, type Page } from '../page.ts'
import { tokenField } from './forms.ts'
import { withReturn } from './return-address.ts'

const LOOKED_AT_FIRST = "Your account is pending approval. We'll email you when it's been reviewed."

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
    ${isOpen && html`<p>No account yet? <a href="${withReturn('/users/sign_up', returnTo)}">Create an account</a></p>`}
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
  title: 'Two-factor authentication',
  hasScript: hasPasskey,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}
    <form method="post" action="/users/sign_in/second_factor">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="ticket" value="${ticket}" />
      <label for="code">Authenticator code or recovery code</label>
      <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" required autofocus />
      <button>Sign in</button>
    </form>
    ${hasPasskey && passkeyForm({ token, returnTo, ticket })} ${SIGN_IN_LINK}`,
})

export const noPasswordsPage = (way: { token: string; returnTo: string }): Page => ({
  title: 'Sign in',
  hasScript: true,
  leadsOutside: way.returnTo.startsWith('/oauth/authorize'),
  body: html`<p>Password sign-in is disabled on this instance.</p>
    ${passkeyForm(way)}`,
})

export const blockedPage: Page = {
  title: 'Sign in',
  body: html`${warning('Your account has been blocked.')}
    <p>Contact an administrator of this instance.</p>`,
}

/** With the text of the instance for new users. */
export const pendingPage = (words: Html | null): Page => ({
  title: 'Your account is pending approval',
  body: html`<p>${LOOKED_AT_FIRST}</p>
    ${words} ${SIGN_IN_LINK}`,
})

export const unconfirmedPage: Page = {
  title: 'Confirm your email address',
  body: html`<p>Follow the link in the confirmation email, then sign in.</p>
    <p>
      Didn't get the email, or the link has expired? <a href="/users/password/new">Reset your password</a> to confirm
      your email address.
    </p>`,
}

export const forgottenPage = (token: string, fault?: string): Page => ({
  title: 'Reset password',
  body: html`${warning(fault)}
    <form method="post" action="/users/password/new">
      ${tokenField(token)}
      <label for="email">Email</label>
      <input id="email" name="user[email]" type="email" autocomplete="email" required autofocus />
      <button>Send reset link</button>
    </form>
    ${SIGN_IN_LINK}`,
})

export const mailedPage: Page = {
  title: 'Check your email',
  body: html`<p>If an account with this email address exists, you will receive a password reset link.</p>
    ${SIGN_IN_LINK}`,
}

export interface NewPasswordPage {
  token: string
  link: string
  reason?: string
  fault?: string
}

export const newPasswordPage = ({ token, link, reason, fault }: NewPasswordPage): Page => ({
  title: 'Change your password',
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
      <label for="again">Confirm new password</label>
      <input id="again" name="user[password_confirmation]" type="password" autocomplete="new-password" required />
      <button>Change password</button>
    </form>`,
})

export const passwordSetPage = (words: Html | null): Page => ({
  title: 'Password changed',
  body: html`${words ?? html`<p>You have been signed out of all sessions.</p>`} ${SIGN_IN_LINK}`,
})

export interface ConfirmPage {
  token: string
  link: string
  username: string
  email: string
}

export const confirmPage = ({ token, link, username, email }: ConfirmPage): Page => ({
  title: 'Confirm your email address',
  body: html`<p>Add ${email} to the account ${username}? Do not confirm if this is not your account.</p>
    <form method="post" action="/users/confirmation">
      ${tokenField(token)}
      <input type="hidden" name="confirmation_token" value="${link}" />
      <button>Confirm</button>
    </form>`,
})

export const confirmedPage = (words: Html | null, isPending: boolean): Page => ({
  title: 'Email address confirmed',
  body: html`${isPending && html`<p>${LOOKED_AT_FIRST}</p>`}${words} ${SIGN_IN_LINK}`,
})

export const deadLinkPage: Page = {
  title: 'This link is no longer valid',
  body: html`<p>The link has been used or has expired, or the email address of the account has changed.</p>
    <p><a href="/users/password/new">Request a new link</a></p>`,
}
