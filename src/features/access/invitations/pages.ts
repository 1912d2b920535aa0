import { html, rich } from '../../../lib/text/html.ts'
import type { Page } from '../../identity/page.ts'
import { tokenField } from '../../identity/sessions/forms.ts'
import { levelName } from '../members/levels.ts'
import type { SourceName } from '../members/queries.ts'
import * as t from './texts.ts'

interface Invited {
  source: SourceName
  access_level: number
}

const offer = ({ source, access_level }: Invited) =>
  html`<p>
    ${rich(t.youAreInvitedToJoin, {
      kind: source.kind,
      name: html`<b>${source.name}</b>`,
      role: levelName(access_level),
    })}
  </p>`

export const acceptPage = (invited: Invited & { username: string; token: string; address: string }): Page => ({
  title: t.acceptInvitation,
  body: html`${offer(invited)}
    <form method="post" action="${invited.address}">
      ${tokenField(invited.token)}
      <button>${t.acceptAs(invited.username)}</button>
    </form>`,
})

export const signInFirstPage = (invited: Invited & { address: string }): Page => ({
  title: t.youAreInvited,
  body: html`${offer(invited)}
    <p>
      ${rich(t.signInToAccept, {
        link: html`<a href="/users/sign_in?${String(new URLSearchParams({ return_to: invited.address }))}"
          >${t.signIn}</a
        >`,
      })}
    </p>`,
})

export const acceptedPage = ({ name, kind, url }: SourceName): Page => ({
  title: t.invitationAccepted,
  body: html`<p>${rich(t.youAreNowMember, { kind, name: html`<a href="${url}">${name}</a>` })}</p>`,
})

export const closedPage = ({ name, kind }: SourceName): Page => ({
  title: t.invitationNotAccepted,
  body: html`<p>${t.acceptsNoNewMembers(kind, name)}</p>`,
})

export const deadInvitationPage: Page = {
  title: t.invitationNoLongerValid,
  body: html`<p>${t.askForNewInvitation}</p>`,
}
