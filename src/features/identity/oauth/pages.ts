import type { Raw } from '../../../api/input.ts'
import type { User } from '../../../context.ts'
import { html, rich } from '../../../lib/text/html.ts'
import { tokenField } from '../sessions/forms.ts'
import type { Page } from '../page.ts'
import * as t from '../texts.ts'
import { QUESTION, type AuthorizationRequest, type Target } from './authorization.ts'

export interface Consent {
  token: string
  user: User
  /** The user who registered the application; null if it belongs to the instance. */
  owner: User | null
  target: Target
  input: AuthorizationRequest
  given: Raw
}

export function consentPage({ token, user, owner, target, input, given }: Consent): Page {
  const { application, redirectUri } = target
  const carried = QUESTION.filter((name) => typeof given[name] === 'string').map(
    (name) => html`<input type="hidden" name="${name}" value="${given[name] as string}" />`,
  )
  return {
    title: t.authorizeApplication(application.name),
    leadsOutside: true,
    body: html`<p>${rich(t.applicationRequestsPermission, { user: html`<strong>${user.username}</strong>` })}</p>
      <ul>
        ${input.scopes.map((scope) => html`<li>${t.permissions[scope]}</li>`)}
      </ul>
      ${owner && html`<p>${rich(t.applicationCreatedByUser, { user: html`<strong>${owner.username}</strong>` })}</p>`}
      <p class="quiet">${t.youWillBeRedirected(redirectUri)}</p>
      <form method="post" action="/oauth/authorize">
        ${tokenField(token)}${carried}
        <button>${t.authorize}</button>
        <button class="quiet" name="_method" value="delete">${t.deny}</button>
      </form>`,
  }
}

export const badClientPage: Page = {
  title: t.invalidAuthorizationRequest,
  body: html`<p role="alert">${t.unknownApplicationOrRedirectUri}</p>`,
}
