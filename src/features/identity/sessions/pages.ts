import { html, rich, type Html } from '../../../lib/text/html.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.ts'
import { warning, type Page } from '../page.ts'
import * as t from '../texts.ts'
import { tokenField } from './forms.ts'
import { withReturn } from './return-address.ts'

const SIGN_IN_LINK = html`<p><a href="/users/sign_in">${t.signIn}</a></p>`

/** Hidden until the script shows it, because only a script can use a device. */
const passkeyForm = ({ token, returnTo, ticket = '' }: { token: string; returnTo: string; ticket?: string }) =>
  html`<form method="post" action="/users/sign_in/passkey" id="passkey" hidden>
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="ticket" value="${ticket}" />
      <input type="hidden" name="challenge" value="" />
      <input type="hidden" name="credential" value="" />
      <button class="quiet">${t.signInWithPasskey}</button>
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
  title: t.signIn,
  hasScript: true,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}${words}
    <form method="post" action="/users/sign_in">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <label for="login">${t.usernameOrEmail}</label>
      <input
        id="login"
        name="user[login]"
        value="${login}"
        autocomplete="username"
        autocapitalize="none"
        required
        autofocus
      />
      <label for="password">${t.password}</label>
      <input id="password" name="user[password]" type="password" autocomplete="current-password" required />
      <button>${t.signIn}</button>
    </form>
    ${passkeyForm({ token, returnTo })}
    ${
      isOpen &&
      html`<p>
        ${rich(t.noAccountYet, { link: html`<a href="${withReturn('/users/sign_up', returnTo)}">${t.createAnAccount}</a>` })}
      </p>`
    }
    <p><a href="/users/password/new">${t.forgotYourPassword}</a> · <a href="/help">${t.help}</a></p>`,
})

export interface SecondFactorPage {
  token: string
  returnTo: string
  ticket: string
  hasPasskey: boolean
  fault?: string
}

export const secondFactorPage = ({ token, returnTo, ticket, hasPasskey, fault }: SecondFactorPage): Page => ({
  title: t.twoFactorAuthentication,
  hasScript: hasPasskey,
  leadsOutside: returnTo.startsWith('/oauth/authorize'),
  body: html`${warning(fault)}
    <form method="post" action="/users/sign_in/second_factor">
      ${tokenField(token)}
      <input type="hidden" name="return_to" value="${returnTo}" />
      <input type="hidden" name="ticket" value="${ticket}" />
      <label for="code">${t.authenticatorOrRecoveryCode}</label>
      <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" required autofocus />
      <button>${t.signIn}</button>
    </form>
    ${hasPasskey && passkeyForm({ token, returnTo, ticket })} ${SIGN_IN_LINK}`,
})

export const noPasswordsPage = (way: { token: string; returnTo: string }): Page => ({
  title: t.signIn,
  hasScript: true,
  leadsOutside: way.returnTo.startsWith('/oauth/authorize'),
  body: html`<p>${t.passwordSignInDisabled}</p>
    ${passkeyForm(way)}`,
})

export const blockedPage: Page = {
  title: t.signIn,
  body: html`${warning(t.accountBlocked)}
    <p>${t.contactAnAdministrator}</p>`,
}

/** With the text of the instance for new users. */
export const pendingPage = (words: Html | null): Page => ({
  title: t.accountPendingApproval,
  body: html`<p>${t.pendingApprovalWeWillEmail}</p>
    ${words} ${SIGN_IN_LINK}`,
})

export const unconfirmedPage: Page = {
  title: t.confirmYourEmail,
  body: html`<p>${t.followLinkInConfirmationEmail}</p>
    <p>${rich(t.noConfirmationEmail, { link: html`<a href="/users/password/new">${t.resetYourPassword}</a>` })}</p>`,
}

export const forgottenPage = (token: string, fault?: string): Page => ({
  title: t.resetPassword,
  body: html`${warning(fault)}
    <form method="post" action="/users/password/new">
      ${tokenField(token)}
      <label for="email">${t.email}</label>
      <input id="email" name="user[email]" type="email" autocomplete="email" required autofocus />
      <button>${t.sendResetLink}</button>
    </form>
    ${SIGN_IN_LINK}`,
})

export const mailedPage: Page = {
  title: t.checkYourEmail,
  body: html`<p>${t.resetLinkSentIfAccountExists}</p>
    ${SIGN_IN_LINK}`,
}

export interface NewPasswordPage {
  token: string
  link: string
  reason?: string
  fault?: string
}

export const newPasswordPage = ({ token, link, reason, fault }: NewPasswordPage): Page => ({
  title: t.changeYourPassword,
  body: html`${reason && html`<p>${reason}</p>`}${warning(fault)}
    <form method="post" action="/users/password/edit">
      ${tokenField(token)}
      <input type="hidden" name="user[reset_password_token]" value="${link}" />
      <label for="password">${t.newPassword}</label>
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
      <label for="again">${t.confirmNewPassword}</label>
      <input id="again" name="user[password_confirmation]" type="password" autocomplete="new-password" required />
      <button>${t.changePassword}</button>
    </form>`,
})

export const passwordSetPage = (words: Html | null): Page => ({
  title: t.passwordChanged,
  body: html`${words ?? html`<p>${t.signedOutOfAllSessions}</p>`} ${SIGN_IN_LINK}`,
})

export interface ConfirmPage {
  token: string
  link: string
  username: string
  email: string
}

export const confirmPage = ({ token, link, username, email }: ConfirmPage): Page => ({
  title: t.confirmYourEmail,
  body: html`<p>${t.addEmailToAccount(email, username)}</p>
    <form method="post" action="/users/confirmation">
      ${tokenField(token)}
      <input type="hidden" name="confirmation_token" value="${link}" />
      <button>${t.confirm}</button>
    </form>`,
})

export const confirmedPage = (words: Html | null, isPending: boolean): Page => ({
  title: t.emailConfirmed,
  body: html`${isPending && html`<p>${t.pendingApprovalWeWillEmail}</p>`}${words} ${SIGN_IN_LINK}`,
})

export const deadLinkPage: Page = {
  title: t.linkNoLongerValid,
  body: html`<p>${t.linkUsedOrExpired}</p>
    <p><a href="/users/password/new">${t.requestNewLink}</a></p>`,
}
