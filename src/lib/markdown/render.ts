/**
 * Markdown in the flavour of forges. Pure, and its time grows with the length of the text: nesting is bounded, and
 * every added rule reads forward. Loading takes a while, so callers use `markdown.ts`, which also keeps long texts off
 * this thread.
 */
import MarkdownIt, { type MarkdownIt as Parser, type Token } from 'markdown-it'
import { loadEmoji } from '../text/emoji.ts'
import { alerts } from './alerts.ts'
import { footnotes } from './footnotes.ts'
import { highlight } from './highlight.ts'
import {
  ID_PREFIX,
  OUTSIDE_REL,
  balance,
  cleanHtml,
  escapeHtml,
  isOutside,
  isSafeAddress,
  isSafePicture,
  type Rewrite,
} from './html.ts'
import { nameThings, type InlineEnv, type TextReference } from './inline.ts'
import { outline } from './outline.ts'
import { wordsOf } from './words.ts'
import { addressOfKey, type Tracker } from '../text/tracker-keys.ts'

/** How a reference is shown. */
export interface Resolution {
  readonly href: string
  readonly text: string
  readonly title?: string | null
  readonly class?: string | null
}

export interface RenderOptions {
  /** The URL of the instance: links to it are not external, and bare links to its records are references. */
  readonly base?: string | null
  /** Null: the reference stays plain text. */
  readonly resolve?: (reference: TextReference) => Resolution | null
  /** Its issues become links too. */
  readonly tracker?: Tracker | null
  /** Resolves a relative URL. */
  readonly locate?: (address: string, kind: 'link' | 'picture') => string
}

interface RenderEnv extends InlineEnv {
  readonly options: RenderOptions
  readonly rewrite: Rewrite
  readonly budget: { left: number }
}

const DEEPEST = 40
const MOST_MARKED_CODE = 100_000

const findEmoji = await loadEmoji()
const md = makeParser()

/** All references of a text, in order. */
export function references(text: string, { base = null }: Pick<RenderOptions, 'base'> = {}): TextReference[] {
  const env = envOf({ base })
  md.parse(text, env)
  return env.found
}

export function renderMarkdown(text: string, options: RenderOptions = {}): string {
  return balance(md.render(text, envOf(options)))
}

function envOf(options: RenderOptions): RenderEnv {
  return {
    options,
    base: options.base ?? null,
    findEmoji,
    tracker: options.tracker ?? null,
    found: [],
    rewrite: (address, kind) => rewritten(address, kind, options),
    budget: { left: MOST_MARKED_CODE },
  }
}

function rewritten(address: string, kind: 'link' | 'picture', { base, locate }: RenderOptions): string | null {
  if (kind === 'link' ? !isSafeAddress(address) : !isSafePicture(address)) return null
  if (address.startsWith('#')) return `#${ID_PREFIX}${address.slice(1).replace(/^user-content-/, '')}`
  if (isOutside(address) || !locate) return address
  const located = locate(address, kind)
  return isSafeAddress(located) ? withinBase(located, base) : null
}

/** One slash more would turn a path into another host. */
const withinBase = (address: string, base: string | null | undefined) =>
  base || !address.startsWith('//') ? address : `/${address.replace(/^\/+/, '')}`

function makeParser(): Parser {
  const parser = new MarkdownIt({ html: true, linkify: true, maxNesting: DEEPEST })
  parser.linkify.set({ fuzzyLink: false, fuzzyIP: false })
  parser.validateLink = isSafeAddress
  parser.use(footnotes)
  parser.use(alerts)
  parser.use(outline)
  parser.core.ruler.at('text_join', nameThings)
  writeThings(parser)
  return parser
}

function writeThings(parser: Parser): void {
  const { rules } = parser.renderer
  const of = (env: unknown) => env as RenderEnv
  rules['html_block'] = rules['html_inline'] = (tokens, at, _, env) => cleanHtml(tokens[at]!.content, of(env).rewrite)
  rules['reference'] = (tokens, at, _, env) => writeReference(tokens[at]!, of(env))
  rules['tracker_key'] = (tokens, at) => writeTrackerKey(tokens[at]!.content, String(tokens[at]!.meta!['href']))
  rules['emoji'] = (tokens, at) =>
    `<span class="emoji" title="${escapeHtml(String(tokens[at]!.meta!['name']))}">${tokens[at]!.content}</span>`
  rules['task_box'] = (tokens, at) =>
    `<input type="checkbox" class="task-list-item-checkbox" disabled${tokens[at]!.meta!['checked'] ? ' checked' : ''}> `
  rules['fence'] = (tokens, at, _, env) => writeCode(tokens[at]!, of(env))
  rules['code_block'] = (tokens, at) => `<pre><code>${escapeHtml(tokens[at]!.content)}</code></pre>\n`
  rules['link_open'] = (tokens, at, options, env, self) => {
    setAddress(tokens[at]!, 'href', of(env).rewrite(String(tokens[at]!.attrGet('href')), 'link'), of(env))
    return self.renderToken(tokens, at, options)
  }
  rules['image'] = (tokens, at, options, env, self) => {
    const token = tokens[at]!
    setAddress(token, 'src', of(env).rewrite(String(token.attrGet('src')), 'picture'), of(env))
    token.attrSet('alt', wordsOf(token.children ?? []))
    return self.renderToken(tokens, at, options)
  }
  for (const cell of ['th_open', 'td_open']) {
    rules[cell] = (tokens, at, options, _, self) => {
      const side = /^text-align:(\w+)$/.exec(String(tokens[at]!.attrGet('style')))?.[1]
      // Pages allow no inline styles.
      tokens[at]!.attrs = side ? [['align', side]] : null
      return self.renderToken(tokens, at, options)
    }
  }
}

function setAddress(token: Token, name: 'href' | 'src', address: string | null, { options }: RenderEnv): void {
  if (address === null) {
    token.attrs = token.attrs?.filter(([other]) => other !== name) ?? null
    return
  }
  token.attrSet(name, address)
  const isOurs = options.base && (address === options.base || address.startsWith(`${options.base}/`))
  if (name === 'href' && isOutside(address) && !isOurs) token.attrSet('rel', OUTSIDE_REL)
}

function writeReference(token: Token, { options }: RenderEnv): string {
  const reference = token.meta!['reference'] as TextReference
  const written = escapeHtml(token.content)
  const resolution = options.resolve?.(reference) ?? null
  const { tracker } = options
  if (!resolution && tracker?.hasNumbers && reference.kind === 'issue' && reference.project === null)
    return writeTrackerKey(token.content, addressOfKey(tracker, String(reference.id)))
  const isAddress = /^https?:/.test(token.content)
  if (!resolution || !isSafeAddress(resolution.href)) return isAddress ? `<a href="${written}">${written}</a>` : written
  const { href, text, title, class: kind } = resolution
  const more = (title ? ` title="${escapeHtml(title)}"` : '') + ` class="${escapeHtml(kind ?? 'reference')}"`
  return `<a href="${escapeHtml(href)}"${more}>${escapeHtml(text)}</a>`
}

function writeTrackerKey(written: string, href: string): string {
  const text = escapeHtml(written)
  if (!isSafeAddress(href)) return text
  return `<a href="${escapeHtml(href)}" rel="${OUTSIDE_REL}" class="reference external_issue">${text}</a>`
}

function writeCode(token: Token, env: RenderEnv): string {
  const language = /^[\w+#.-]{1,40}/.exec(token.info.trim())?.[0].toLowerCase() ?? ''
  const code = highlight(token.content, language, env.budget)
  return `<pre><code${language ? ` class="language-${escapeHtml(language)}"` : ''}>${code}</code></pre>\n`
}
