import { html } from '../../../lib/text/html.ts'
import type { Page } from '../../identity/page.ts'

export const askPage = ({ what, username }: { what: string; username: string }): Page => ({
  title: 'Unsubscribe',
  body: html`<p>Stop email notifications for ${username} about ${what}?</p>
    <form method="post">
      <button>Unsubscribe</button>
    </form>`,
})

export const donePage = ({ what, username }: { what: string; username: string }): Page => ({
  title: 'Unsubscribed',
  body: html`<p>${username} no longer receives email notifications about ${what}.</p>`,
})

export const deadPage: Page = {
  title: 'This link is not valid',
  body: html`<p>The item was deleted, or the link is incomplete.</p>`,
}
