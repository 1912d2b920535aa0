/**
 * Turns a letter into a mail for one recipient: text and HTML, with the reason for the mail and a link to unsubscribe.
 */
import type { App, User } from '../../../context.ts'
import { Html, html } from '../../../lib/text/html.ts'
import { referencesIn } from '../../../lib/markdown/markdown.ts'
import type { Mail } from '../../../mail/compose.ts'
import { htmlForMail } from '../../../mail/html.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { renderPlain, renderText } from '../../planning/markdown/service.ts'
import { loadProjectSubject, pathWithNamespace } from '../../projects/projects/queries.ts'
import type { Item } from './items.ts'
import type { Letter } from './letters.ts'
import type { Reason } from './levels.ts'
import * as t from './texts.ts'
import { unsubscribeAddress } from './unsubscribing.ts'

/** The recipient, and the reason for the mail. */
export interface Reader {
  readonly user: User
  readonly email: string
  readonly reason: Reason
}

/**
 * Renders shared parts once. Texts with references are rendered per recipient, because each may see other references.
 */
export async function framer(app: App, letter: Letter, item: Item): Promise<(reader: Reader) => Promise<Mail>> {
  const { html_emails_enabled, email_author_in_body } = await currentSettings(app)
  const naming = await Promise.all(
    letter.texts.map(async ({ markdown }) => (await referencesIn(markdown, app.url)).length > 0),
  )
  const plain = html_emails_enabled
    ? await Promise.all(
        letter.texts.map(async ({ markdown }, n) => (naming[n] ? null : renderPlain(app, scopeOf(item), markdown))),
      )
    : []
  return async (reader) => {
    const unsubscribe = unsubscribeAddress(app, item, reader)
    const foot = footer(app, reader, unsubscribe)
    return {
      to: reader.email,
      subject: letter.subject,
      text: textOf(letter, foot),
      ...(html_emails_enabled && { html: await htmlOf(app, letter, item, reader, plain, foot) }),
      // Some mail servers accept only their own sender name.
      ...(letter.author && !email_author_in_body && { fromName: letter.author.name }),
      messageId: `${letter.id}@${domain(app)}`,
      ...(letter.after.length > 0 && {
        inReplyTo: `${letter.after.at(-1)}@${domain(app)}`,
        references: letter.after.map((id) => `${id}@${domain(app)}`),
      }),
      headers: {
        ...projectHeaders(app, item),
        ...letter.headers,
        ...(letter.author && { 'X-GitLab-Author': letter.author.username }),
        'X-GitLab-NotificationReason': reader.reason,
        'List-Unsubscribe': `<${unsubscribe.address}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    }
  }
}

const domain = ({ url }: App) => new URL(url).hostname.replace(/[^\w.-]+/g, '-')

function projectHeaders(app: App, { project, namespace }: Item): Record<string, string> {
  const path = pathWithNamespace(project, namespace)
  const list = [project.id, ...path.split('/').toReversed()].join('.').replace(/[^\w.-]+/g, '-')
  return {
    'X-GitLab-Project': project.name,
    'X-GitLab-Project-Id': String(project.id),
    'X-GitLab-Project-Path': path,
    'List-Id': `${path} <${list}.${domain(app)}>`,
  }
}

/** As an anonymous viewer sees it. */
const scopeOf = ({ project, namespace }: Item) => ({ project, namespace, viewer: null, level: 0, open: [] })

interface Footer {
  readonly why: string
  readonly stop: string
  readonly address: string
}

const footer = (app: App, { reason }: Reader, { address, ends }: { address: string; ends: string }): Footer => ({
  why: `${t.youReceiveThisEmail(app.url, t.reasons[reason])}${app.config.mailReplyTo === null ? ` ${t.repliesAreNotRead}` : ''}`,
  stop: ends,
  address,
})

function textOf({ opening, texts, lines, url }: Letter, { why, stop, address }: Footer): string {
  const paragraphs = texts.flatMap(({ before, markdown }) => (before === null ? [markdown] : [before, markdown]))
  return [
    opening,
    ...paragraphs,
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    url,
    `-- \n${why}\n${stop}: ${address}`,
  ].join('\n\n')
}

async function htmlOf(
  app: App,
  { opening, texts, lines, url }: Letter,
  item: Item,
  { user }: Reader,
  plain: readonly (string | null)[],
  { why, stop, address }: Footer,
): Promise<string> {
  const own = plain.includes(null) ? await loadProjectSubject(app, item.project, user) : null
  const paragraphs = await Promise.all(
    texts.map(async ({ before, markdown }, n) => {
      const rendered = plain[n] ?? (await renderText(app, user, own, markdown))
      return html`${before !== null && html`<p>${before}</p>`}
        <div>${new Html(htmlForMail(rendered, url))}</div>`
    }),
  )
  return String(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
        </head>
        <body>
          <p>${opening}</p>
          ${paragraphs}
          ${
            lines.length > 0 &&
            html`<ul>
              ${lines.map((line) => html`<li>${line}</li>`)}
            </ul>`
          }
          <p><a href="${url}">${url}</a></p>
          <hr />
          <p>
            <small>${why} <a href="${address}">${stop}</a></small>
          </p>
        </body>
      </html>`,
  )
}
