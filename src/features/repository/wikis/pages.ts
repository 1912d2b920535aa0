/** How pages are named: titles as people write them, slugs in addresses, files in the repository. */

/** What a page may be written in, and the ending of its file. */
export const FORMATS = { markdown: 'md', rdoc: 'rdoc', asciidoc: 'asciidoc', org: 'org' } as const
export type Format = keyof typeof FORMATS
export const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

/** Endings that are read as pages, whoever put them there. */
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

/** Where attachments lie, each in a folder of its own. */
export const UPLOADS = 'uploads'
const ATTACHMENT = new RegExp(`^${UPLOADS}/[0-9a-f]{32}/`)

/** Null: a file that is no page. */
export function pageOfFile(path: string): PageFile | null {
  const [, slug, ending] = /^(.+)\.([A-Za-z]+)$/.exec(path) ?? []
  const format = READ[ending?.toLowerCase() ?? '']
  if (slug === undefined || format === undefined || ATTACHMENT.test(path)) return null
  return { slug, title: titleOf(slug), format }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The last part, with hyphens as blanks and the entities of HTML as what they stand for. */
export const titleOf = (slug: string): string =>
  slug
    .split('/')
    .at(-1)!
    .replace(/-+/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)

/** Blanks become hyphens, slashes make folders, and `..` leads nowhere. Null: nothing is left, or it is too long. */
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

/** What a page says of itself before its text: its plain `key: value` lines, and nothing that is nested in others. */
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
