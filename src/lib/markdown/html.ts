/**
 * Sanitises HTML in texts of users. The HTML is parsed once, from left to right, and written from scratch: the output
 * consists only of the tags and attributes named here, so there is nothing to filter out.
 */

const CONTAINERS = `a abbr b bdo blockquote caption cite code dd del details dfn div dl dt em figcaption figure
  h1 h2 h3 h4 h5 h6 i ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup
  table tbody td tfoot th thead time tr tt ul var`.split(/\s+/)
const VOIDS = ['br', 'hr', 'img', 'wbr']
const ALLOWED = new Set([...CONTAINERS, ...VOIDS])

/** Elements whose content is not shown. */
const DROPPED = new Set(
  'script style textarea title xmp iframe noembed noframes noscript plaintext template svg math select object'.split(
    ' ',
  ),
)

const ATTRIBUTES = new Set(
  `abbr align alt colspan datetime dir height href id lang open reversed rowspan scope src start title valign
  width`.split(/\s+/),
)

const SCHEMES = new Set(['http', 'https', 'mailto', 'ftp', 'ssh', 'git', 'irc', 'ircs', 'xmpp', 'tel'])
// oxlint-disable-next-line no-control-regex -- browsers ignore these when they parse a scheme
const IGNORED = /[\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g

/** Whether a link may be followed: a relative URL, or a scheme that runs no code. */
export function isSafeAddress(address: string): boolean {
  const scheme = /^([^/?#]*?):/.exec(address.replace(IGNORED, ''))?.[1]
  return scheme === undefined || SCHEMES.has(scheme.toLowerCase())
}

/** Images are also loaded without a click. */
export const isSafePicture = (address: string): boolean =>
  isSafeAddress(address) && /^(?:https?:|[^:]*$|[^:]*[/?#])/i.test(address.replace(IGNORED, ''))

/** Prefix for ids in user texts, so that they cannot clash with ids of the page. */
export const ID_PREFIX = 'user-content-'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

/** Rewrites a URL in a text, depending on its kind. Null removes it. */
export type Rewrite = (address: string, kind: 'link' | 'picture') => string | null

/** The allowed part of a piece of HTML. Tags may be left open, or closed without being opened: see `balance()`. */
export function cleanHtml(html: string, rewrite: Rewrite): string {
  let result = ''
  for (let at = 0; at < html.length;) {
    const next = html.indexOf('<', at)
    if (next < 0) return result + textOf(html.slice(at))
    result += textOf(html.slice(at, next))
    const piece = tagAt(html, next) ?? markAt(html, next)
    if (!piece) {
      result += '&lt;'
      at = next + 1
      continue
    }
    at = piece.end
    if ('name' in piece && !piece.closes && DROPPED.has(piece.name)) at = afterElement(html, piece)
    else if ('name' in piece) result += writeTag(piece, rewrite)
  }
  return result
}

/** Entities stay unchanged; text cannot become a tag. */
const textOf = (text: string) => text.replaceAll('>', '&gt;')

interface Tag {
  readonly name: string
  readonly closes: boolean
  readonly attributes: readonly (readonly [name: string, value: string])[]
  readonly end: number
}

const TAG_NAME = /<(\/?)([a-z][^\s/>]*)/iy
const GAP = /[\s/=]*/y
const ATTRIBUTE = /([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/y

/**
 * Parses like browsers: anything that starts like a tag is one, up to its end or the end of the text. Null if no tag
 * starts here.
 */
function tagAt(html: string, start: number): Tag | null {
  TAG_NAME.lastIndex = start
  const head = TAG_NAME.exec(html)
  if (!head) return null
  const attributes: [string, string][] = []
  for (let at = TAG_NAME.lastIndex; ;) {
    GAP.lastIndex = at
    GAP.exec(html)
    at = GAP.lastIndex
    if (html[at] === '>') return { name: head[2]!.toLowerCase(), closes: head[1] === '/', attributes, end: at + 1 }
    ATTRIBUTE.lastIndex = at
    const [whole, name = '', ...values] = ATTRIBUTE.exec(html) ?? []
    if (whole === undefined) return { name: '', closes: true, attributes: [], end: html.length }
    attributes.push([name.toLowerCase(), decode(values.find((value) => value !== undefined) ?? '')])
    at += whole.length
  }
}

/** Comments, declarations and processing instructions, up to their end; none of them is shown. */
function markAt(html: string, start: number): { end: number } | null {
  if (!/^<[!?]/.test(html.slice(start, start + 2))) return null
  const isComment = html.startsWith('<!--', start)
  const end = html.indexOf(isComment ? '-->' : '>', start + 2)
  return { end: end < 0 ? html.length : end + (isComment ? 3 : 1) }
}

function afterElement(html: string, { name, end }: Tag): number {
  const closing = new RegExp(`</${name}[^>]{0,100}>`, 'gi')
  closing.lastIndex = end
  return closing.test(html) ? closing.lastIndex : html.length
}

const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|colon|Tab|NewLine));?/g
const CHARACTERS: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  colon: ':',
  Tab: '\t',
  NewLine: '\n',
}

/** Decodes the entities that can hide a scheme; others are written unchanged, and have no effect there. */
const decode = (value: string): string =>
  value.replace(ENTITY, (_, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return CHARACTERS[name]!
    const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })

function writeTag({ name, closes, attributes }: Tag, rewrite: Rewrite): string {
  if (!ALLOWED.has(name)) return ''
  if (closes) return VOIDS.includes(name) ? '' : `</${name}>`
  const kept = new Map<string, string>()
  for (const [attribute, value] of attributes) {
    if (!ATTRIBUTES.has(attribute) || kept.has(attribute)) continue
    const written = attributeValue(name, attribute, value, rewrite)
    if (written !== null) kept.set(attribute, written)
  }
  if (name === 'a' && kept.has('href') && isOutside(kept.get('href')!)) kept.set('rel', OUTSIDE_REL)
  return `<${name}${[...kept].map(([attribute, value]) => ` ${attribute}="${escapeHtml(value)}"`).join('')}>`
}

export const OUTSIDE_REL = 'nofollow noreferrer noopener'
export const isOutside = (address: string): boolean => /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)

function attributeValue(tag: string, attribute: string, value: string, rewrite: Rewrite): string | null {
  if (attribute === 'href') return tag === 'a' ? rewrite(value, 'link') : null
  if (attribute === 'src') return tag === 'img' ? rewrite(value, 'picture') : null
  if (attribute === 'id') return value === '' ? null : ID_PREFIX + value.replace(/^user-content-/, '')
  if (attribute === 'width' || attribute === 'height') return /^\d{1,5}(?:px|%)?$/.test(value) ? value : null
  return value
}

/** Beyond this depth tags are removed and their content stays. */
const DEEPEST = 120
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s[^<>]*)?)>/g
const WRITTEN = new Set([...ALLOWED, 'input'])
const IS_VOID = new Set([...VOIDS, 'input'])

/** Closes every tag in order, so that no tag of a text reaches beyond the text. */
export function balance(html: string): string {
  const open: string[] = []
  const counts = new Map<string, number>()
  const count = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by)
  const parts: string[] = []
  let from = 0
  for (const { 0: tag, 1: slash, 2: name = '', index } of html.matchAll(TAG)) {
    parts.push(html.slice(from, index).replaceAll('<', '&lt;'))
    from = index + tag.length
    if (!WRITTEN.has(name)) continue
    if (IS_VOID.has(name)) parts.push(tag)
    else if (!slash && open.length < DEEPEST) {
      open.push(name)
      count(name, 1)
      parts.push(tag)
    } else if (slash && (counts.get(name) ?? 0) > 0) {
      for (let last = open.pop(); last !== undefined; last = open.pop()) {
        count(last, -1)
        parts.push(`</${last}>`)
        if (last === name) break
      }
    }
  }
  parts.push(html.slice(from).replaceAll('<', '&lt;'), ...open.toReversed().map((name) => `</${name}>`))
  return parts.join('')
}
