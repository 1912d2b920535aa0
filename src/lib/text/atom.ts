/**
 * Atom feeds (RFC 4287). Every value is escaped, and characters that XML cannot contain (control characters, lone
 * surrogates) are removed, so that no user text makes a feed invalid.
 */
export interface FeedText {
  /** `html` is rendered by readers: it must already be sanitised. */
  readonly type: 'text' | 'html'
  readonly text: string
}

export interface FeedEntry {
  /** A URL, or a `tag:` of RFC 4151; unique. */
  readonly id: string
  readonly title: string
  readonly link: string
  readonly updated: string | Date
  readonly published?: string | Date | undefined
  readonly author?: { readonly name: string; readonly email?: string | undefined; readonly uri?: string | undefined }
  readonly picture?: string | null | undefined
  readonly categories?: readonly string[]
  readonly summary?: FeedText | undefined
  readonly content?: FeedText | undefined
}

export interface Feed {
  readonly id: string
  readonly title: string
  /** The URL of the feed. */
  readonly self: string
  /** The page that the feed belongs to. */
  readonly page: string
  /** The update time of a feed without entries. */
  readonly since: string | Date
  readonly entries: readonly FeedEntry[]
}

const LONGEST_TITLE = 80

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

// oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const UNFIT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g

const escaped = (text: string) =>
  text
    .toWellFormed()
    .replace(UNFIT, '')
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!)

/** Cuts at whole characters. */
function cut(text: string): string {
  const characters = Array.from(text.slice(0, 4 * LONGEST_TITLE))
  return characters.length > LONGEST_TITLE ? `${characters.slice(0, LONGEST_TITLE - 1).join('')}…` : text
}

/** A date without a four-digit year, which a commit may have, becomes the oldest possible date. */
export function feedMoment(moment: string | Date): string {
  const date = new Date(moment)
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString()
  return /^\d{4}-/.test(text) ? text : '1970-01-01T00:00:00.000Z'
}

export function newestOf({ entries, since }: Feed): string {
  const moments = entries.map(({ updated }) => feedMoment(updated))
  return moments.length > 0 ? moments.reduce((one, other) => (one > other ? one : other)) : feedMoment(since)
}

const element = (name: string, text: string | null | undefined, attributes = '') =>
  text === null || text === undefined ? '' : `<${name}${attributes}>${escaped(text)}</${name}>`

const attribute = (name: string, value: string) => ` ${name}="${escaped(value)}"`

const textElement = (name: 'summary' | 'content', of: FeedText | undefined) =>
  of ? element(name, of.text, attribute('type', of.type)) : ''

function entryText({ author, picture, categories = [], published, ...entry }: FeedEntry): string {
  const people = author
    ? `<author>${element('name', author.name)}${element('uri', author.uri)}${element('email', author.email)}</author>`
    : ''
  return [
    element('id', entry.id),
    element('title', cut(entry.title) || '…'),
    `<link${attribute('href', entry.link)}/>`,
    element('updated', feedMoment(entry.updated)),
    published === undefined ? '' : element('published', feedMoment(published)),
    people,
    picture ? `<media:thumbnail width="40" height="40"${attribute('url', picture)}/>` : '',
    ...categories.map((term) => `<category${attribute('term', term)}/>`),
    textElement('summary', entry.summary),
    textElement('content', entry.content),
  ].join('')
}

export function writeFeed(feed: Feed): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">',
    element('id', feed.id),
    element('title', cut(feed.title)),
    `<link rel="self" type="application/atom+xml"${attribute('href', feed.self)}/>`,
    `<link rel="alternate" type="text/html"${attribute('href', feed.page)}/>`,
    element('updated', newestOf(feed)),
    // An entry without an author inherits the feed's.
    `<author>${element('name', feed.title)}</author>`,
    ...feed.entries.map((entry) => `<entry>${entryText(entry)}</entry>`),
    '</feed>',
  ]
  return `${lines.join('\n')}\n`
}
