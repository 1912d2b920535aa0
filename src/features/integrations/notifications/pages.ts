import { html } from '../../../lib/text/html.ts'
import type { Page } from '../../identity/page.ts'

export const askPage = ({ what, username }: { what: string; username: string }): Page => ({
  title: 'Get less mail',
  body: html`<p>From then on ${username} gets no more mail about ${what}.</p>
    <form method="post">
      <button>Unsubscribe</button>
    </form>`,
})

export const donePage = ({ what, username }: { what: string; username: string }): Page => ({
  title: 'Done',
  body: html`<p>From now on ${username} gets no more mail about ${what}.</p>`,
})

export const deadPage: Page = {
  title: 'This link is not valid',
  body: html`<p>What it was about is gone, or the link is not complete.</p>`,
}
