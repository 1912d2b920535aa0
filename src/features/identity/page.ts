/**
 * The layout of the server-rendered pages: plain HTML that works without scripts and loads nothing from other hosts.
 */
import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Html, html } from '../../lib/text/html.ts'
import * as t from './texts.ts'

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a3f4a); --card: light-dark(#fff, #1c1f26);
  --ink: light-dark(#1d2330, #e8eaf0); --quiet: light-dark(#5b6474, #a3abba); --accent: light-dark(#2456c7, #86a9ff);
  --on-accent: light-dark(#fff, #10131a); --bad: light-dark(#a81e2d, #ff9aa4) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 2rem 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: light-dark(#f3f5f8, #121419) }
main { width: min(26rem, calc(100vw - 2rem)); padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem }
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere }
p { margin: 0 0 1rem; overflow-wrap: anywhere } ul { margin: 0 0 1rem; padding-left: 1.25rem }
label { display: block; margin-bottom: .25rem; font-weight: 600 }
input { width: 100%; margin-bottom: 1rem; padding: .5rem .75rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: .5rem }
input[type=checkbox] { width: auto; margin: 0 .5rem 0 0 } label.check { margin-bottom: 1rem; font-weight: inherit }
button { width: 100%; margin-bottom: .75rem; padding: .5rem .75rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem }
button.quiet { color: var(--ink); background: transparent; border-color: var(--line) }
pre, table { display: block; overflow-x: auto } a { color: var(--accent) } .bad { color: var(--bad) } .quiet { color: var(--quiet) }
form { margin-bottom: .75rem } form > :last-child, main > :last-child { margin-bottom: 0 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`

const STYLE_HASH = hash('sha256', STYLE, 'base64')
// One string: any change of whitespace inside the element would change its hash.
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

export interface Page {
  readonly title: string
  readonly body: Html
  /**
   * Browsers apply `form-action` to every redirect that follows a post. A form that may lead back to an OAuth client on
   * another host must not have it.
   */
  readonly leadsOutside?: boolean
  /** The page runs a script of this server, which may send requests to this server. */
  readonly hasScript?: boolean
}

export function sendPage(reply: FastifyReply, status: number, page: Page) {
  const { title, body, leadsOutside = false, hasScript = false } = page
  const rules = ["default-src 'none'", `style-src 'sha256-${STYLE_HASH}'`, "base-uri 'none'", "frame-ancestors 'none'"]
  if (hasScript) rules.push("script-src 'self'", "connect-src 'self'")
  if (!leadsOutside) rules.push("form-action 'self'")
  return reply
    .code(status)
    .header('Content-Type', 'text/html; charset=utf-8')
    .header('Content-Security-Policy', rules.join('; '))
    .header('X-Frame-Options', 'DENY')
    .header('Referrer-Policy', 'same-origin')
    .header('Cache-Control', 'no-store')
    .send(String(frame(title, body, reply.server.isReadOnly)))
}

const READ_ONLY = html`<p class="quiet" role="status">${t.instanceIsReadOnly}</p>`

const frame = (title: string, body: Html, isReadOnly: boolean) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Mortise</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${isReadOnly && READ_ONLY} ${body}
        </main>
      </body>
    </html> `

export const warning = (text: string | null | undefined): Html =>
  html`${text && html`<p class="bad" role="alert">${text}</p>`}`
