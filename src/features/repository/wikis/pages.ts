/** Names of wiki pages: titles for people, slugs in URLs, files in the repository. */

/** The formats of a page and their file extensions. */
export const FORMATS = { markdown: 'md', rdoc: 'rdoc', asciidoc: 'asciidoc', org: 'org' } as const
export type Format = keyof typeof FORMATS
export const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

/** File extensions that count as pages, however the file was created. */
const READ: Record<string, Format | 'textile' | 'creole' | 'rst' | 'mediawiki' | 'pod' | 'plaintext'> = {
  md: 'markdown',
  mkd: 'markdown',
  mkdn: 'markdown',
  mdown: 'markdown',
  markdown: 'markdown',
  rdoc: 'rdoc',
  adoc: 'asciidoc',
  asciidoc: 'asciidoc',
  org: 'org',
  textile: 'textile',
  creole: 'creole',
  rst: 'rst',
  mediawiki: 'mediawiki',
  pod: 'pod',
  txt: 'plaintext',
}

const LONGEST_NAME = 245
const LONGEST_FOLDER = 255

export interface PageFile {
  readonly slug: string
  readonly title: string
  readonly format: string
}

/** The folder of attachments. Each attachment has its own subfolder. */
export const UPLOADS = 'uploads'
const ATTACHMENT = new RegExp(`^${UPLOADS}/[0-9a-f]{32}/`)

/** Null if the file is not a page. */
export function pageOfFile(path: string): PageFile | null {
  const [, slug, ending] = /^(.+)\.([A-Za-z]+)$/.exec(path) ?? []
  const format = READ[ending?.toLowerCase() ?? '']
  if (slug === undefined || format === undefined || ATTACHMENT.test(path)) return null
  return { slug, title: titleOf(slug), format }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The last part of the slug, with spaces for hyphens and decoded HTML entities. */
export const titleOf = (slug: string): string =>
  slug
    .split('/')
    .at(-1)!
    .replace(/-+/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)

/**
 * Spaces become hyphens, slashes create folders, and `..` is removed. Null if nothing is left or the slug is too long.
 */
export function slugOf(title: string): string | null {
  const parts: string[] = []
  for (const part of title.trim().replace(/\s+/g, '-').split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const name = parts.at(-1)
  if (name === undefined) return null
  const isLong =
    Buffer.byteLength(name) > LONGEST_NAME || Buffer.byteLength(parts.slice(0, -1).join('/')) > LONGEST_FOLDER
  return isLong ? null : parts.join('/')
}

export const fileOf = (slug: string, format: Format): string => `${slug}.${FORMATS[format]}`

const FRONT_MATTER = /^---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s
const FACT = /^([\w-]+):[ \t](.+)$/

/** The front matter of a page: only plain `key: value` lines, no nested values. */
export function frontMatterOf(content: string): Record<string, string> {
  const [, block = ''] = FRONT_MATTER.exec(content) ?? []
  const facts = block.split(/\r?\n/).flatMap((line) => {
    const [, key, value] = FACT.exec(line) ?? []
    if (key === undefined || value === undefined) return []
    return [[key, value.trim().replace(/^(["'])(.*)\1$/, '$2')] as const]
  })
  return Object.fromEntries(facts)
}

export const withoutFrontMatter = (content: string): string => content.replace(FRONT_MATTER, '')
