import { html } from '../../../lib/text/html.ts'
import type { Page } from '../../identity/page.ts'
import * as t from './texts.ts'

export const askPage = ({ what, username }: { what: string; username: string }): Page => ({
  title: t.unsubscribe,
  body: html`<p>${t.stopNotifications(username, what)}</p>
    <form method="post">
      <button>${t.unsubscribe}</button>
    </form>`,
})

export const donePage = ({ what, username }: { what: string; username: string }): Page => ({
  title: t.unsubscribed,
  body: html`<p>${t.noLongerReceives(username, what)}</p>`,
})

export const deadPage: Page = {
  title: t.linkNotValid,
  body: html`<p>${t.itemDeletedOrLinkIncomplete}</p>`,
}
