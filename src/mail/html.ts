/**
 * Rendered Markdown for mail: links are absolute, and opening the mail loads nothing. An image would tell its owner who
 * reads the mail and when, so it becomes a link.
 */
import { escapeHtml } from '../lib/markdown/html.ts'

const ATTRIBUTE = /([a-z-]+)="([^"]*)"/g

/** `html` comes from this server's renderer: every `>` ends a tag. */
export function htmlForMail(html: string, base: string): string {
  let links = 0
  return html.replace(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g, (tag, closes: string, name: string, rest: string) => {
    if (name === 'a') links += closes ? -1 : 1
    if (closes) return tag
    if (name === 'input') return rest.includes(' checked') ? '[x]' : '[ ]'
    if (name === 'img') return picture(attributesOf(rest), base, links > 0)
    return `<${name}${rest.replace(/ href="([^"]*)"/, (_, href: string) => ` href="${absolute(href, base)}"`)}>`
  })
}

const attributesOf = (text: string) =>
  new Map(Array.from(text.matchAll(ATTRIBUTE), ([, name, value]) => [name!, value!]))

function picture(attributes: ReadonlyMap<string, string>, base: string, isLinked: boolean): string {
  const name = `[${attributes.get('alt') || 'image'}]`
  const src = attributes.get('src')
  return isLinked || !src ? name : `<a href="${absolute(src, base)}" rel="noreferrer">${name}</a>`
}

/** Input and output are HTML-escaped. */
function absolute(address: string, base: string): string {
  const plain = address
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
  const text = plain.replaceAll('&amp;', '&')
  return URL.canParse(text, base) ? escapeHtml(new URL(text, base).href) : ''
}
