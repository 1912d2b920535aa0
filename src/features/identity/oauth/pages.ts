import type { Scope } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import type { User } from '../../../context.ts'
import { html } from '../../../lib/text/html.ts'
import { tokenField } from '../sessions/forms.ts'
import type { Page } from '../page.ts'
import { QUESTION, type AuthorizationRequest, type Target } from './authorization.ts'

const MEANING: Record<Scope, string> = {
  api: 'full access to the API on your behalf, including code and settings',
  read_api: 'read-only access to everything you can access',
  read_user: 'read your profile',
  read_repository: 'read your repositories',
  write_repository: 'read and write your repositories',
  read_registry: 'read your container images',
  sudo: 'act as any other user, if you are an administrator',
  openid: 'authenticate you with OpenID Connect',
  profile: 'read your public profile',
  email: 'read your email address',
}

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
    title: `Authorize ${application.name}?`,
    leadsOutside: true,
    body: html`<p>You are signed in as <strong>${user.username}</strong>. The application requests permission to:</p>
      <ul>
        ${input.scopes.map((scope) => html`<li>${MEANING[scope]}</li>`)}
      </ul>
      ${owner && html`<p>This application was created by the user <strong>${owner.username}</strong>, not by an administrator.</p>`}
      <p class="quiet">You will be redirected to ${redirectUri}</p>
      <form method="post" action="/oauth/authorize">
        ${tokenField(token)}${carried}
        <button>Authorize</button>
        <button class="quiet" name="_method" value="delete">Deny</button>
      </form>`,
  }
}

export const badClientPage: Page = {
  title: 'Invalid authorization request',
  body: html`<p role="alert">The application is unknown, or the redirect URI is not registered.</p>`,
}
