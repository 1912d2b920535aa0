/** Markup of chat messages, per receiver. Text by users can neither break a link nor mention anyone. */
import { html } from '../../../../lib/text/html.ts'
import type { Link, Piece } from './sentences.ts'

export interface Markup {
  text(text: string): string
  link(link: Link): string
  strong(text: string): string
  /** Text by users, in any markup. */
  prose(text: string): string
}

const write = (markup: Markup, piece: Piece): string =>
  typeof piece === 'string'
    ? markup.text(piece)
    : 'strong' in piece
      ? markup.strong(piece.strong)
      : piece.url
        ? markup.link(piece)
        : markup.text(piece.text)

export const written = (markup: Markup, pieces: readonly Piece[]): string =>
  pieces.map((piece) => write(markup, piece)).join('')

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** `%7C` replaces the character that would end the URL. */
const inAngles = (url: string) => escaped(url.replaceAll('|', '%7C').replace(/\s/g, '%20'))

/** `<!channel>` and `<@U1>` mention people: escaping `<` disables both. */
export const slackMarkup: Markup = {
  text: escaped,
  link: ({ text, url }) => `<${inAngles(url)}|${escaped(text).replaceAll('|', '¦')}>`,
  strong: (text) => `*${escaped(text)}*`,
  prose: escaped,
}

const INVISIBLE = '\u200B'
/** `@all` and `@channel` in a plain text mention everyone. */
const silenced = (text: string): string => text.replace(/@(?=\w)/g, `@${INVISIBLE}`)

const plainInMarkdown = (text: string) => silenced(text).replace(/[\\`*_{}[\]()#~|<>]/g, '\\$&')

const ENDING: Readonly<Record<string, string>> = { '(': '%28', ')': '%29' }
const inParentheses = (url: string) => url.replace(/[\s()<>\\]/g, (c) => ENDING[c] ?? encodeURIComponent(c))

export const markdownMarkup: Markup = {
  text: (text) => silenced(text).replace(/[\\`*_[\]<>]/g, '\\$&'),
  link: ({ text, url }) => `[${plainInMarkdown(text)}](${inParentheses(url)})`,
  strong: (text) => `**${plainInMarkdown(text)}**`,
  prose: (text) => silenced(text).replaceAll('<', '&lt;'),
}

/** Discord shows entities literally. A separate field of the payload disables mentions. */
export const discordMarkup: Markup = { ...markdownMarkup, prose: silenced }

/** Google Chat: `<users/all>` mentions everyone, and nothing can be escaped. */
const unangled = (text: string) => text.replaceAll('<', '‹').replaceAll('>', '›')

export const chatMarkup: Markup = {
  text: unangled,
  link: ({ text, url }) => `<${url.replace(/[|>\s]/g, encodeURIComponent)}|${unangled(text).replaceAll('|', '¦')}>`,
  strong: (text) => `*${unangled(text)}*`,
  prose: unangled,
}

const asHtml = (text: string) => String(html`${text}`)

export const htmlMarkup: Markup = {
  text: asHtml,
  link: ({ text, url }) => String(html`<a href="${url}">${text}</a>`),
  strong: (text) => String(html`<b>${text}</b>`),
  prose: asHtml,
}

export const plainMarkup: Markup = {
  text: (text) => text,
  link: ({ text }) => text,
  strong: (text) => text,
  prose: (text) => text,
}
