import { html } from '../../../lib/text/html.ts'
import type { Page } from '../../identity/page.ts'
import { tokenField } from '../../identity/sessions/forms.ts'
import { levelName } from '../members/levels.ts'
import type { SourceName } from '../members/queries.ts'

interface Invited {
  source: SourceName
  access_level: number
}

const offer = ({ source, access_level }: Invited) =>
  html`<p>You are invited to join the ${source.kind} <b>${source.name}</b> as ${levelName(access_level)}.</p>`

export const acceptPage = (invited: Invited & { username: string; token: string; address: string }): Page => ({
  title: 'Accept invitation',
  body: html`${offer(invited)}
    <form method="post" action="${invited.address}">
      ${tokenField(invited.token)}
      <button>Accept as ${invited.username}</button>
    </form>`,
})

export const signInFirstPage = (invited: Invited & { address: string }): Page => ({
  title: 'You are invited',
  body: html`${offer(invited)}
    <p>
      <a href="/users/sign_in?${String(new URLSearchParams({ return_to: invited.address }))}">Sign in</a> to accept.
    </p>`,
})

export const acceptedPage = ({ name, kind, url }: SourceName): Page => ({
  title: 'Invitation accepted',
  body: html`<p>You are now a member of the ${kind} <a href="${url}">${name}</a>.</p>`,
})

export const closedPage = ({ name, kind }: SourceName): Page => ({
  title: 'Invitation not accepted',
  body: html`<p>The ${kind} ${name} does not accept new members.</p>`,
})

export const deadInvitationPage: Page = {
  title: 'This invitation is no longer valid',
  body: html`<p>The invitation was already accepted, was withdrawn or has expired. Ask for a new invitation.</p>`,
}
